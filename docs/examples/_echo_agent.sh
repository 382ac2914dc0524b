#!/bin/sh
# The request is one line of JSON on standard input; what is printed is the answer.
read -r request
question=$(printf '%s' "$request" | sed 's/.*"markdown":"//; s/".*//')

echo "You asked: **$question**"
echo
for word in That is a good question.; do
  printf '%s ' "$word"
  sleep 0.2
done
