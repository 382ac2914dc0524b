"""Conversations that show everything a person can see, for the golden files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blockwire.content import Message
from tests.render.turns import block, message

__all__ = ["REQUESTS", "SHOWCASE"]

_PROSE: Final = """\
# A heading of the first level

Some words with **bold**, *italic*, ~~struck~~ and `code`, and enough of them to wrap.
A second source line.\\
A hard break before this one, with a [link](https://example.org/a/page) and <https://example.org>.

Underlined heading
------------------

- one item
- another item that is long enough to be wrapped at eighty columns, hanging below its own text
  - nested
    - deeper
- [ ] an open task

1. first

2. loose second

   with a paragraph and code:

   ```sh
   make demo
   ```

> A quote that is long enough to wrap at forty columns.
>
> - with an item
>
> > and a quote inside

***

![A picture](https://example.org/p.png), raw <b>HTML</b>, List<String>, 5 < 10 && a<b, &amp;.

```python
def fib(n: int) -> int:
\treturn n if n < 2 else fib(n - 1) + fib(n - 2)

print("a line of code that is a good deal longer than eighty columns, so that the terminal wraps it")
```

    indented code

[ref]: https://example.org
"""

_TABLES: Final = """\
| Name | Value | Right |
|:-----|:-----:|------:|
| one | 1 | 10 |
| two words | **bold** | 2,000 |

| 名前 | v |
|---|---|
| 你好 | 1 |
| ❤️ ⚠ 🫠 | 2 |
| é́a 👩‍👩‍👧 ① … € | 3 |

| Long cells | that are wrapped where they stand |
|---|---|
| Cells wrap inside of their column. | The widest column shrinks first, so that the others keep what they have. |

| a | b | c | d | e | f | g | h | i | j |
|---|---|---|---|---|---|---|---|---|---|
| many | columns | on | a | narrow | screen | become | a | list | of cells |
"""


def _tool(status: str, **members: Any) -> dict[str, Any]:
    return block("tool", tool="read_file", status=status, **members)


SHOWCASE: Final[Mapping[str, list[Message]]] = {
    "prose": [message(block("prose", markdown=_PROSE), model="model-1")],
    "tables": [message(block("prose", markdown=_TABLES))],
    "tools": [
        message(
            _tool("pending"),
            _tool("running", input={"path": "/etc/hosts", "lines": [1, 20]}, started_at=1),
            _tool(
                "completed",
                input={"path": "notes.txt"},
                output="first line\n\tsecond line\n" + "more\n" * 9,
                started_at=1_000,
                completed_at=2_250,
            ),
            _tool("completed", input="", output={"found": True}, started_at=0, completed_at=125_000),
            _tool("completed", output="x" * 500),
            _tool(
                "failed", input={"path": "/root"}, error="Permission denied", started_at=5, completed_at=4
            ),
            _tool("cancelled", input={}),
            _tool("completed", output="\n".join("abcdefghi")),
        )
    ],
    "others": [
        message(block("prose", markdown="What is this?"), role="user"),
        message(
            block("attachment", attachment_id="att_1", name="diagram.png", media_type="image/png"),
            role="user",
            author="Ann",
        ),
        message(
            block("reasoning", text="First I look at it.\n\nThen I say what it is, in a sentence that wraps.\n"),
            block("code", text="x = 1\n\nprint(x)\n", language="python"),
            block("code", text=""),
            block("speech", text="This is a diagram."),
            block("notice", code="cancelled", message="Stopped on request; what had arrived is kept."),
            block(
                "error",
                code="engine_failed",
                message="The provider is overloaded at the moment and did not answer in time.",
                retryable=True,
            ),
            block("error", code="invalid_request", message="The model does not exist."),
            block("chart", fallback_text="A chart of the year.\nWith two lines."),
            block("hologram"),
            model="model-1",
        ),
        message(block("prose", markdown="Be brief."), role="system"),
    ],
    "waiting": [
        {**message(block("prose", markdown="Let me delete it."), _tool("pending")), "status": "suspended"},
        {**message(block("prose", markdown="So far")), "status": "streaming", "id": "msg_2"},
        {**message(block("prose", markdown="Which?")), "status": "suspended", "id": "msg_3"},
    ],
    "hostile": [
        message(
            block("prose", markdown="\x1b[31mred\x1b[0m \x1b]52;c;Y3VybA==\x07 \u202etxt.exe \x85 [x](javascript:a)"),
            block("tool", tool="\x1b]0;title\x07", status="failed", error="\x1b[2J\r\nnext\tcell"),
            block("chart", fallback_text="**not** <b>markup</b> \x9b31m"),
            author="Ann\x1b[1m\r\n",
            model="m\u200bodel",
        )
    ],
}  # fmt: skip

REQUESTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "msg_1": {
        "id": "req_1",
        "kind": "approval",
        "prompt": "May I run delete_file on notes.txt? It cannot be undone.",
        "options": ["yes", "no", {"label": "always"}],
    },
}
