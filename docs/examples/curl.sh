#!/bin/sh
# Ask by curl and read the stream to its end.
set -eu

blockwire serve --engine mine --config _blockwire.toml --port 0 > gateway.log &
gateway=$!
trap 'kill "$gateway"; wait "$gateway" || true' EXIT
until grep -q '^listening on ' gateway.log; do
  kill -0 "$gateway"
  sleep 0.1
done
GATEWAY=$(sed -n 's/^listening on //p' gateway.log)


# begin
: "${GATEWAY:=http://127.0.0.1:7890}"

CONVERSATION=$(curl -s -X POST "$GATEWAY/v1/conversations" | sed 's/{"id":"\([^"]*\).*/\1/')

TURN=$(curl -s "$GATEWAY/v1/conversations/$CONVERSATION/turns" \
  -H 'content-type: application/json' -H "Idempotency-Key: $(date +%s)" \
  -d '{"content": "What is a fold?"}' | sed 's/{"id":"\([^"]*\).*/\1/')

curl -sN "$GATEWAY/v1/conversations/$CONVERSATION/events?until=idle"
# end

curl -s "$GATEWAY/v1/conversations/$CONVERSATION/turns/$TURN?wait=60" | grep -q '"status":"completed"'
