#!/bin/sh
# Fill a store, and read it without blockwire.
set -eu
export BLOCKWIRE_CONFIG="$PWD/_fast.toml"

blockwire ask "What is a Bloom filter?" > /dev/null
python _read_store.py "$XDG_DATA_HOME/blockwire/conversations.db" > events.txt
head -n 1 events.txt | grep -q " 1 message.created$"
tail -n 1 events.txt | grep -q " turn.completed$"
