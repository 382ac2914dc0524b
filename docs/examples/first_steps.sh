#!/bin/sh
# What the first steps of the tutorial type, with recordings that play at once.
set -eu
export BLOCKWIRE_CONFIG="$PWD/_fast.toml"

blockwire ask "What is a Bloom filter?" | grep -q "Bloom filter"
blockwire list | grep -q "What is a Bloom filter?"
blockwire show | grep -q "## How it works"
blockwire show --json | grep -q '"role":"assistant"'

blockwire serve --port 0 > gateway.log &
gateway=$!
trap 'kill "$gateway"; wait "$gateway" || true' EXIT
until grep -q '^listening on ' gateway.log; do
  kill -0 "$gateway"
  sleep 0.1
done

blockwire ask "How long is the day in Quito?"
blockwire ask --last "And in Tromsø?"
blockwire watch --until-idle | grep -q "And in Tromsø?"
blockwire watch --until-idle --json | grep -q '"type":"turn.completed"'
test "$(blockwire check)" = ok
