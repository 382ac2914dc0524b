#!/bin/sh
# Start a gateway with our own agent behind it, ask it something, and stop it.
set -eu

blockwire serve --config _blockwire.toml --engine mine --port 0 > gateway.log &
gateway=$!
trap 'kill "$gateway"; wait "$gateway" || true' EXIT
until grep -q '^listening on ' gateway.log; do
  kill -0 "$gateway" # ends this script if the gateway could not start
  sleep 0.1
done

blockwire ask "What is a fold?"
