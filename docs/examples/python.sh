#!/bin/sh
# Start a gateway with our own agent behind it, and ask it from Python.
set -eu

blockwire serve --config _blockwire.toml --engine mine --port 0 > gateway.log &
gateway=$!
trap 'kill "$gateway"; wait "$gateway" || true' EXIT
until grep -q '^listening on ' gateway.log; do
  kill -0 "$gateway"
  sleep 0.1
done

python _ask.py "$(sed -n 's/^listening on //p' gateway.log)" > answer.txt
cat answer.txt
tail -n 1 answer.txt | grep -qx completed
