"""An agent that thinks, calls a tool and answers, as one event a line."""

import json
import sys


def say(kind: str, **members: object) -> None:
    print(json.dumps({"type": kind, **members}), flush=True)


request = json.load(sys.stdin)
question = request["messages"][-1]["content"][0]["markdown"]

say("content.block.started", block={"type": "reasoning"})
say("content.block.delta", text="Counting is what tools are for.")
say("content.block.completed")

call = {"type": "tool", "tool": "count_words", "status": "running", "input": {"text": question}}
say("content.block.started", block=call)
say("content.block.updated", set={"status": "completed", "output": len(question.split())})
say("content.block.completed")

say("content.block.started", block={"type": "prose"})
for word in ["That", " was", f" **{len(question.split())}**", " words."]:
    say("content.block.delta", text=word)
say("turn.completed")
