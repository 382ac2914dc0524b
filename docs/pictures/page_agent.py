"""The agent of the pictures of the page: what it answers is written down here.

One of ``PLAYS`` for each question, chosen by how the question begins. Prints events, one a line.
"""

import json
import signal
import sys

Event = dict[str, object]


def block(kind: str, **members: object) -> list[Event]:
    """Return the events of a whole block."""
    return [
        {"type": "content.block.started", "block": {"type": kind, **members}},
        {"type": "content.block.completed"},
    ]


def prose(text: str) -> list[Event]:
    """Return the events of a whole block of prose."""
    return block("prose", markdown=text)


def reasoning(text: str) -> list[Event]:
    """Return the events of a whole block of reasoning."""
    return block("reasoning", text=text)


def tool(name: str, given: object, came: object, *, seconds: float) -> list[Event]:
    """Return the events of a tool call that went well."""
    began = 1_767_225_600_000
    return block(
        "tool",
        tool=name,
        status="completed",
        input=given,
        output=came,
        started_at=began,
        completed_at=began + round(seconds * 1000),
    )


UPLOADS = """\
Uploads are slow because the proxy **keeps each file on its disk first** and passes it on only when
it is whole. That disk has been full of log files since Friday:

| | before | since |
|---|---:|---:|
| median upload | 1.2 s | 9.8 s |
| slowest of a hundred | 4 s | 41 s |
| disk of the proxy, full | 31 % | 97 % |

Pass bodies on while they arrive, and the disk is out of the way:

```nginx
location /v1/ {
    proxy_pass http://127.0.0.1:7890;
    proxy_request_buffering off;  # files go straight through
    proxy_buffering off;          # answers, too
}
```

1. Reload it with `nginx -s reload`; no connection is lost.
2. Then make room: `journalctl --vacuum-size=500M`.
"""

RETRIES = """\
Wait a random time between zero and a limit that doubles. Without the random part everybody comes
back in the same moment, and the service falls over again.

```python
import random
from collections.abc import Iterator


def pauses(first_s: float = 0.5, most_s: float = 30.0) -> Iterator[float]:
    \"\"\"Yield how long to wait before each further try.\"\"\"
    limit_s = first_s
    while True:
        yield random.uniform(0.0, limit_s)
        limit_s = min(most_s, limit_s * 2)
```

Three things are easy to forget:

- **Who may be asked twice?** Only what does no harm when it happens twice, or carries a key.
- **Who says when?** If the answer has `Retry-After`, it is right and the"""

WALK = """\
From the harbour to the lighthouse in about two hours, with the wind behind you:
"""

PLAYS: dict[str, list[Event]] = {
    "Why are uploads slow": [
        *reasoning(
            "The chart shows one jump on Friday and a plateau after it. A plateau is a limit, not "
            "load. I will compare the disk of the proxy with the time of an upload."
        ),
        *tool(
            "query_metrics",
            {"of": ["upload_seconds", "disk_used_ratio"], "by": "day", "last": "14d"},
            {"days": 14, "change": "Friday 02:10", "disk_used_ratio": [0.31, 0.97]},
            seconds=1.4,
        ),
        *prose(UPLOADS),
        {"type": "turn.completed"},
    ],
    "Write a retry": prose(RETRIES)[:1],
    "Plan a walk": [
        *prose(WALK),
        *block(
            "route_map",
            fallback_text="Harbour → mole → dunes (3.1 km) → lighthouse.\n7.4 km, 60 m up, no road.",
            points=[[54.18, 7.89], [54.19, 7.87]],
        ),
        *prose(
            "The café at the lighthouse closes at five. Take the bus back from there; it leaves "
            "at ten past every hour."
        ),
        {"type": "turn.completed"},
    ],
    "Translate the manual": [
        *prose(
            "## 1. Before the first start\n\nPut the device on a level surface, at least 10 cm from "
            "the wall. Fill the tank with cold water up to the line **MAX**"
        ),
        *block(
            "error",
            code="provider_overloaded",
            message="The model is overloaded.",
            retryable=True,
        ),
        {"type": "turn.failed"},
    ],
    "Clean up the old": [
        *tool(
            "list_backups",
            {"older_than": "90d"},
            {"count": 212, "bytes": 88_400_000_000},
            seconds=0.6,
        ),
        *prose(
            "212 backups are older than 90 days; together they take **88.4 GB**. The newest one of "
            "each month would stay."
        ),
        {
            "type": "turn.suspended",
            "request": {
                "id": "delete-1",
                "kind": "approval",
                "prompt": "Delete 209 backups for good, and keep the newest one of each month?",
            },
        },
    ],
}


def main() -> None:
    """Play what belongs to the question; what has no end waits to be stopped."""
    request = json.loads(sys.stdin.readline())  # noqa: TID251 - this is what others do
    question = request["messages"][-1]["content"][0]["markdown"]
    events = next(events for begin, events in PLAYS.items() if question.startswith(begin))
    for event in events:
        print(json.dumps(event), flush=True)
    if events[-1]["type"] not in ("turn.completed", "turn.failed"):
        signal.pause()


if __name__ == "__main__":
    main()
