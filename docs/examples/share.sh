#!/bin/sh
# An answer as a page, as Markdown and as text.
set -eu
export BLOCKWIRE_CONFIG="$PWD/_fast.toml"
blockwire ask "What is a Bloom filter?" > /dev/null

# begin
blockwire show --json > answer.jsonl
blockwire render --format html --title "Bloom filters" answer.jsonl > answer.html
# end

grep -q "<title>Bloom filters</title>" answer.html
grep -q "default-src 'none'" answer.html
blockwire render --format markdown answer.jsonl | grep -q "^## Assistant"
blockwire show --json | blockwire render --format text | grep -q "^== User"
blockwire render --width 72 answer.jsonl | grep -q "Bloom filter"
