#!/bin/sh
# An agent: the request comes as JSON on standard input, what it prints is the answer.
cat > /dev/null
for word in A fold combines the items of a list, one after the other, into a single value.; do
  printf '%s ' "$word"
  sleep 0.1
done
