"""An agent that asks before it acts: a question out, the answer in, one JSON object a line."""

import itertools
import json
import sys

numbers = itertools.count(1)


def say(kind: str, **members: object) -> None:
    print(json.dumps({"type": kind, **members}), flush=True)


def ask(prompt: str, kind: str = "approval") -> object:
    say("turn.suspended", request={"id": f"ask-{next(numbers)}", "kind": kind, "prompt": prompt})
    # With `answers = true` the next line of standard input is the answer.
    return json.loads(sys.stdin.readline())["answer"]  # noqa: TID251 - this is what others do


request = json.loads(sys.stdin.readline())  # noqa: TID251
name = ask("What is the file called?", kind="question")
if ask(f"Delete {name}?") is True:
    text = f"Deleted {name}, or so I say."
else:
    text = "Then I leave it alone."
say("content.block.started", block={"type": "prose", "markdown": text})
say("turn.completed")
