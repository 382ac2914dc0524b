"""Ask a gateway, and print the answer as it grows."""

import sys

from blockwire import Client

url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:7890"

with Client(url) as client:
    conversation = client.create_conversation(title="From Python")
    shown = ""
    for turn in client.ask(conversation.id, "What is a fold?"):
        blocks = turn.message["content"]
        text = "\n\n".join(block["markdown"] for block in blocks if block["type"] == "prose")
        print(text.removeprefix(shown), end="", flush=True)
        shown = text
    print(f"\n{turn.status}")
