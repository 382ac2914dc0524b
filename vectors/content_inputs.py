# ruff: noqa: D103, INP001 - short words beside the data that they make, not a package
"""The inputs of the vectors of content blocks, written by hand; :mod:`generate_content` uses them."""

from __future__ import annotations

from typing import Final

from blockwire.content.vocabulary import Block, TerminalStatus
from blockwire.jsontext import Json

TURN: Final = "turn_1"

Record = dict[str, Json]


# words ----------------------------------------------------------------------------------------
def turn(turn_id: str = TURN, role: str = "assistant") -> Record:
    return {"type": "turn.started", "turn_id": turn_id, "role": role, "created_at": 1740000000000}


def start(block_id: str, kind: str, **members: Json) -> Record:
    block: Record = {"id": block_id, "type": kind, **members}
    return {"type": "content.block.started", "turn_id": TURN, "block": block}


def delta(text: str, block_id: str = "b1", field: str = "markdown") -> Record:
    return {
        "type": "content.block.delta",
        "turn_id": TURN,
        "block_id": block_id,
        "field": field,
        "text": text,
    }


def update(block_id: str, **changes: Json) -> Record:
    return {
        "type": "content.block.updated",
        "turn_id": TURN,
        "block_id": block_id,
        "set": changes,
    }


def done(block_id: str, **members: Json) -> Record:
    return {"type": "content.block.completed", "turn_id": TURN, "block_id": block_id, **members}


def ask(**members: Json) -> Record:
    request: Record = {"id": "req_1", "kind": "approval", "prompt": "May I?", **members}
    return {"type": "turn.suspended", "turn_id": TURN, "request": request}


def resume() -> Record:
    return {"type": "turn.resumed", "turn_id": TURN}


def end(status: str = "completed", **members: Json) -> Record:
    return {"type": f"turn.{status}", "turn_id": TURN, "status": status, **members}


def said(message_id: str = "msg_1", **members: Json) -> Record:
    message: Record = {
        "id": message_id,
        "role": "user",
        "status": "completed",
        "content": [{"id": "b1", "type": "prose", "markdown": "How many?"}],
        "created_at": 1740000000000,
        **members,
    }
    return {"type": "message.created", "message": message}


def numbered(events: list[Record]) -> list[Record]:
    return [
        {**event, "conversation_id": "conv_1", "seq": n, "prev_seq": n - 1, "ts": 1740000000000 + n}
        for n, event in enumerate(events, start=1)
    ]


def prose(text: str = "", block_id: str = "b1") -> Record:
    return start(block_id, "prose", markdown=text)


def thought(text: str = "", block_id: str = "r1", **members: Json) -> Record:
    return start(block_id, "reasoning", text=text, **members)


def tool(status: str = "pending", block_id: str = "k1", **members: Json) -> Record:
    return start(block_id, "tool", tool="ls", status=status, **members)


# scripts --------------------------------------------------------------------------------------
WHOLE_TURN: Final[list[Record]] = [
    said(),
    {**turn(), "model": "m-1", "provider": "acme", "author": "Ada", "x_unknown": 1},
    thought("Hm"),
    delta(", let me see.", "r1", "text"),
    done("r1", provider_data={"signature": "c2ln"}),
    prose("I look"),
    tool(input={"path": "src"}, provider_data={"call_id": "c1"}),
    delta(" and "),
    update("k1", status="running", started_at=1740000000005),
    update("k1", status="completed", output={"count": 6}, completed_at=1740000000007),
    done("k1", block={"id": "k1", "type": "tool", "tool": "ls", "status": "completed"}),
    delta("see "),
    delta("\u516d\U0001f600."),
    done("b1"),
    start("c1", "code", text="a\x00b", language="c"),
    done("c1"),
    start("u1", "acme_chart", fallback_text="a chart", data=[1, {"__proto__": None}]),
    done("u1"),
    end(usage={"input_tokens": 3}, finish_reason="stop"),
]
TWO_OPEN: Final[list[Record]] = [
    turn(),
    prose(block_id="a"),
    prose(block_id="b"),
    delta("1", "a"),
    delta("2", "a"),
    delta("3", "b"),
    delta("4", "a"),
    delta("\U0001f600\u0301", "a"),
    delta("", "a"),
    done("b"),
    delta("7", "a"),
    done("a"),
    end(),
]
WAITING: Final[list[Record]] = [
    turn(),
    tool(),
    thought("secret"),
    ask(block_id="r1"),
    resume(),
    ask(block_id="k1", options=["yes", "no"]),
    {"type": "acme.progress", "turn_id": TURN, "percent": 50},
]
SYSTEM_TURN: Final[list[Record]] = [
    said(role="system"),
    turn(role="developer"),
    prose("rules"),
    delta(" and more"),
    done("b1"),
    end(),
    said("msg_2"),
]
INTERRUPTED: Final[list[Record]] = [
    turn(),
    prose("half"),
    done("b1"),
    end("failed", reason="interrupted", error_code="turn_interrupted"),
]
SCRIPTS: Final[dict[str, list[Record]]] = {
    "a whole turn with every kind of block": WHOLE_TURN,
    "two blocks open at once": TWO_OPEN,
    "waiting for a person": WAITING,
    "messages that are the owner's": SYSTEM_TURN,
    "an interrupted turn": INTERRUPTED,
    "a call that the client is to run": [
        turn(),
        tool(input={}),
        done("k1"),
        end(finish_reason="tool_calls"),
    ],
    "a null is a value": [turn(), tool(output=1), update("k1", output=None, error={"a": 1})],
    "an update may say nothing": [turn(), tool(), update("k1")],
    "nothing happened": [],
}


# what is refused -----------------------------------------------------------------------------
REFUSED: Final[list[tuple[list[Record], Record]]] = [
    ([], delta("x")),
    ([], end()),
    ([turn()], turn()),
    ([said(TURN)], turn()),
    ([said()], said()),
    ([turn(), end()], prose()),
    ([turn(), end("cancelled")], end("cancelled")),
    ([turn()], delta("x")),
    ([turn()], ask(block_id="b9")),
    ([turn(), prose()], prose()),
    ([turn(), prose(), done("b1")], delta("x")),
    ([turn(), prose(), done("b1")], done("b1")),
    ([turn(), prose()], delta("x", field="text")),
    ([turn(), start("c1", "code", text="")], delta("x", "c1", "text")),
    ([turn(), start("u1", "acme_chart")], delta("x", "u1", "text")),
    ([turn(), prose()], update("b1", status="running")),
    ([turn(), tool("running")], update("k1", status="pending")),
    ([turn(), tool("completed")], update("k1", status="failed")),
    ([turn(), tool("running")], done("k1")),
    (
        [turn(), tool()],
        done("k1", block={"id": "k1", "type": "tool", "tool": "rm", "status": "failed"}),
    ),
    ([turn(), prose()], end()),
    ([turn(), ask()], ask()),
    ([turn(), ask()], end()),
    ([turn()], resume()),
]


MALFORMED: Final[list[Json]] = [
    [],
    {},
    {"type": 1},
    {"type": "Acme"},
    {"type": "a\nb"},
    {"type": "acme", "aB": 1},
    {"type": "acme", "a": [{"b": {"C": 1}}], "D": 2},
    {k: v for k, v in delta("x").items() if k != "field"},
    {**delta("x"), "text": 1},
    {**delta("x"), "turn_id": " "},
    {**delta("x"), "block_id": "n" * 257},
    {**delta("x"), "seq": -1},
    {**delta("x"), "seq": 3, "prev_seq": 3},
    {**delta("x"), "seq": True},
    {**delta("x"), "ts": 2**53},
    {**turn(), "role": "robot"},
    {**turn(), "model": "\x1b]0;t\x07"},
    {**turn(), "author": 3},
    {**end(), "status": "failed"},
    {**end(), "content": []},
    prose() | {"block": {"id": "b1", "type": "prose"}},
    prose() | {"block": {"id": "b1", "type": "Prose", "markdown": ""}},
    start("s1", "speech", text=" "),
    start("e1", "error", code="Not Snake", message=""),
    tool("done"),
    update("k1", tool="rm"),
    done("k1", block={"id": "b1", "type": "prose", "markdown": ""}),
    said(status="streaming"),
    said(completed_at=1),
    said(content=[{"id": "b", "type": "x"}, {"id": "b", "type": "y"}]),
]


# other formats --------------------------------------------------------------------------------
KEYS: Final = (
    "a", "filePath", "HTTPServer", "getHTTPResponse", "ABC", "aB1C", "x-request-id", "a.b c",
    "_a", "__proto__", "1st", "\u00c9", "",
)  # fmt: skip
VALUES: Final[tuple[Json, ...]] = (
    {"a": {"b": [1]}},
    {"aB": {"cD": 1}, "e": [{"fG": 2}]},
    {"a/b": 1, "c": {"dE": 2}},
    {"aB": 1, "a_b": 2},
    {"": None},
    [[{"__proto__": {"X": 1}}]],
)
BAD_KEYS: Final[tuple[Json, ...]] = (
    {"A": 1},
    {"a": {"b": {"X": 1}}, "Y": 2},
    {"a": [{}, {"b": 1, "c/~": 2}], "D": 1},
)


RECORDS: Final = (
    '{"content":[{"id":"b","type":"tool","input":{ "aB" : 1.50 },"state":{"xY":[]}}]}',
    '{"content":[{"id":"b","type":"attachment","mediaType":"a/b"}],"ifLastTurn":"t"}',
    '{"id":"b","type":"x","\\u00e9":1,"aB":1,"a_b":2}',
    '{"role":"user","content":[{"Id":"b","type":"x"}],"metadata":{"aB":1}}',
    '{"type":"content.block.updated","blockId":"k","set":{"output":{"aB":1}}}',
    '{"content":"hi","options":{"maxTokens":1}}',
)
ARGUMENTS: Final = (
    '{"path":"a"}',
    ' {"filePath":1.50}',
    '"SELECT 1"',
    "SELECT 1",
    '{"a":',
    '{"a":1,"a":2}',
    "",
)


# views and ends ------------------------------------------------------------------------------
MESSAGES: Final[list[Record]] = [
    said(),
    said(role="system"),
    said(content=[{"id": "r", "type": "reasoning", "text": "secret"}]),
    said(content=[{"id": "r", "type": "reasoning", "text": "a", "visibility": "visible"}]),
    said(content=[{"id": "b", "type": "acme", "provider_data": 1, "x": {"provider_data": 2}}]),
    said(provider_data={"id": "x"}, source_json="{}"),
]

ERROR: Final[Block] = {"id": "e1", "type": "error", "code": "oops", "message": "No."}
OPEN: Final[list[Record]] = [
    turn(),
    prose("a"),
    tool(),
    tool("running", "k2"),
    thought(),
    done("r1"),
]
ENDINGS: Final[tuple[tuple[TerminalStatus, str | None, Block | None], ...]] = (
    ("completed", "stop", None),
    ("completed", "tool_calls", None),
    ("failed", None, ERROR),
    ("cancelled", None, {"id": "n1", "type": "notice", "code": "turn_cancelled", "message": "."}),
)


# plain text -----------------------------------------------------------------------------------
def _message(*blocks: Block) -> Record:
    return {
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"id": f"b{n}", **block} for n, block in enumerate(blocks, start=1)],
        "created_at": 1740000000000,
    }


def _tool(**members: Json) -> Block:
    return {"type": "tool", "tool": "ls", "status": "completed", **members}


TEXTS: Final[dict[str, Record]] = {
    "nothing": _message(),
    "each type of block": _message(
        {"type": "prose", "markdown": "# Hi *you*"},
        {"type": "code", "text": "x = 1\n", "language": "py"},
        {"type": "reasoning", "text": "Hm.", "visibility": "visible"},
        {"type": "speech", "text": "Hello."},
        {"type": "error", "code": "engine_failed", "message": "It broke.", "retryable": True},
        {"type": "notice", "code": "turn_cancelled", "message": "Stopped."},
        {
            "type": "attachment",
            "attachment_id": "att_1",
            "name": "a.png",
            "media_type": "image/png",
        },
        {"type": "tool", "tool": "ls", "status": "running"},
        {"type": "chart", "fallback_text": "A chart."},
    ),
    "blocks without text leave no gap": _message(
        {"type": "prose", "markdown": ""},
        {"type": "prose", "markdown": "one"},
        {"type": "reasoning", "text": ""},
        {"type": "code", "text": ""},
        {"type": "prose", "markdown": "two"},
    ),
    "controls stay what they are": _message(
        {"type": "prose", "markdown": "a\tb\r\nc\rd\x1b[31m\x07\x85\u202e\x00"}
    ),
    "a fallback that is no text": _message(
        {"type": "chart", "fallback_text": ""},
        {"type": "chart", "fallback_text": {"no": "text"}},
        {"type": "constructor"},
    ),
    "values of a tool": _message(
        _tool(input={"path": "/", "__proto__": [1, None, True]}, output="", error="no"),
        _tool(input=None, output=0, error=False),
        _tool(input='\u2028"\\', output={"a": '\u2028"\\\n\x00\x7f\U0001f600'}),
    ),
    "numbers as they were spelled": _message(
        _tool(output=[1, 1.0, -0.0, 0, 2**53 - 1, 2**53 + 1, -(2**64), 10**40]),
        _tool(output=[0.1, 1e15, 1e16, 123456789012345680.0, 1e21, 1e22, 1.5e300]),
        _tool(output=[1e-5, 2.5e-5, 1e-6, 1e-7, 1.25e-7, 5e-324, 1.7976931348623157e308]),
    ),
    "a long value is cut by characters": _message(
        _tool(output="x" * 2000),
        _tool(output="x" * 2345),
        _tool(output="\U0001f600" * 2000),
        _tool(output="\U0001f600" * 2001),
        _tool(output=["\u516d" * 1999, "e\u0301"]),
    ),
}
