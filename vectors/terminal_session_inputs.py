# ruff: noqa: D103, INP001, PLR0913, PLR0917 - data in the form of a program, not a package
"""The conversations of the session vectors: what is sent, what comes back, and what is there then.

Everything that is expected is written here by hand, so that it can be wrong only where it can be
read. ``generate_terminal_session`` puts it into frames.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Record = dict[str, Any]

PLAIN: Final = "text/plain"
STYLED: Final = "text/styled"
LINES: Final = "text/lines"

# Block id, lifecycle, data, content state; the type is text/plain, unless a fifth item says so.
BlockRow = tuple[Any, ...]


@dataclass(frozen=True)
class Step:
    """Something that is sent or done, and what comes back: outcomes or codes, none for silence.

    Attributes:
        message: A message, or JSON text that need not be one.
        expected: Of each answer its outcome or code.
        identity: What an answer to ``text`` names: kind and ids.
        others: Codes that conform as well, where the order of checks is free.
        raw: Bytes as they are, in place of a message.
        host: What the host does, in place of anything sent.
    """

    message: Record | None = None
    expected: Sequence[str] = ()
    text: str = ""
    identity: Record | None = None
    others: Sequence[str] = ()
    raw: Sequence[Any] = ()
    answered: Sequence[Record] = ()
    host: Record | None = None


@dataclass(frozen=True)
class Script:
    """One conversation on a connection of its own."""

    name: str
    group: str
    requirement: Sequence[str]
    steps: Sequence[Step]
    final: Sequence[tuple[str, Sequence[BlockRow]]] = ()
    options: Record = field(default_factory=dict)


# messages ---------------------------------------------------------------------------------
def query(request_id: str, expected: str = "supported", *, version: int = 1) -> Step:
    return Step(request("capability.query", request_id, version=version), [expected])


def opening(request_id: str, expected: str = "opened") -> Step:
    return Step(request("context.open", request_id), [expected])


def closing(request_id: str, expected: str = "closed", context_id: str = "context-1") -> Step:
    return Step(request("context.close", request_id, context_id=context_id), [expected])


def request(kind: str, request_id: str, *, version: int = 1, **ids: str) -> Record:
    return {"version": version, "kind": kind, "request_id": request_id, **ids, "body": {}}


def operation(
    kind: str, operation_id: str, body: Record, code: str = "", *, others: Sequence[str] = (),
    context_id: str = "context-1",
) -> Step:  # fmt: skip
    message = {"version": 1, "kind": kind, "operation_id": operation_id, "context_id": context_id,
               "body": body}  # fmt: skip
    return Step(message, [code] if code else [], others=others)


def append(
    operation_id: str, block_id: str, data: Any, code: str = "", *, lifecycle: str = "mutable",
    type_name: str = PLAIN, **more: Any,
) -> Step:  # fmt: skip
    body = {"block_id": block_id, "lifecycle": lifecycle,
            "content": {"type": type_name, "data": data}}  # fmt: skip
    return operation("block.append", operation_id, body, code, **more)


def update(
    operation_id: str, block_id: str, data: Any, code: str = "", *, type_name: str = PLAIN,
    **more: Any,
) -> Step:  # fmt: skip
    body = {"block_id": block_id, "content": {"type": type_name, "data": data}}
    return operation("block.update", operation_id, body, code, **more)


def extend(
    operation_id: str, block_id: str, base: str, fragment: Any, code: str = "", **more: Any
) -> Step:
    body = {"block_id": block_id, "base_operation_id": base, "fragment": fragment}
    return operation("block.extend", operation_id, body, code, **more)


def replace(
    operation_id: str, block_id: str, base: str, retain: int, replacement: Any, code: str = "",
    **more: Any,
) -> Step:  # fmt: skip
    body = {"block_id": block_id, "base_operation_id": base, "retain": retain,
            "replacement": replacement}  # fmt: skip
    return operation("block.replace_suffix", operation_id, body, code, **more)


def seal(operation_id: str, block_id: str, code: str = "", **more: Any) -> Step:
    return operation("block.seal", operation_id, {"block_id": block_id}, code, **more)


def broken(step: Step, expected: str = "invalid_message", **changes: Any) -> Step:
    """Return a step that sends the message of another one with members changed; None drops one."""
    assert step.message is not None
    members = {**step.message, **changes}
    members = {name: value for name, value in members.items() if value is not None}
    return Step(
        text=json.dumps(members, separators=(",", ":")),
        expected=[expected] if expected else [],
        identity={**step.message, **{k: v for k, v in changes.items() if k.endswith("_id")}},
    )


def bold(text: str) -> list[Record]:
    return [{"text": text, "style": {"attributes": ["bold"]}}]


def line(text: str) -> Record:
    return {"spans": [{"text": text}] if text else []}


def laid_out(text: str, align: str) -> Record:
    return {**line(text), "layout": {"align": align}}


def host(action: str, **members: str) -> Step:
    return Step(host={"host": action, **members})


def sealed(*rows: BlockRow) -> list[BlockRow]:
    return [(row[0], "sealed", *row[2:]) for row in rows]


FAMILY: Final = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
# Ids that are the same to whoever folds, trims or normalises: NFC and NFD, NFKC, case, blanks.
ALIKE: Final = ("\u00e9", "e\u0301", "\u00c9", "k", "K", "\u212a", "\ufb01", "fi", "\uff11", "1", "\u00b9",
                "1 ", " 1", "1\u00a0", "1\u0000", "01", "1\u200b", "stra\u00dfe", "strasse", "STRASSE",
                "\u0130", "i\u0307")  # fmt: skip
A: Final = ("a", "mutable", "x", "1")
START: Final = (opening("o"), append("1", "a", "x"))

# A style that says nothing keeps the schema and is not valid.
NO_STYLE: Final = [{"text": "x", "style": {}}]

REQUESTS: Final = (
    Script("the same request is answered the same", "requests", ["terminal:request:replay"],
           [query("q"), query("q"), opening("o"), opening("o"), closing("c"), closing("c"),
            opening("o")],
           [("closed", [])]),
    Script("the same request in another spelling", "requests", ["terminal:request:equality"],
           [opening("o"),
            Step(text=' {"body" : { }, "request_id": "\\u006f",\n"kind":"context.open",\t"version":1}',
                 expected=["opened"], identity=request("context.open", "o"))],
           [("open", [])]),
    Script("another request under a known id", "requests",
           ["terminal:request:conflict", "terminal:request:one-namespace"],
           [query("i"), opening("i", "request_id_conflict"),
            closing("i", "request_id_conflict", "nowhere"), query("i"), opening("o"),
            query("o", "request_id_conflict"), closing("o", "request_id_conflict"), opening("o"),
            closing("c"), closing("c", "request_id_conflict", "nowhere"),
            opening("c", "request_id_conflict"), closing("c")],
           [("closed", [])]),
    Script("a conflict changes nothing", "requests", ["terminal:request:conflict-changes-nothing"],
           [*START, query("q"), closing("q", "request_id_conflict"), extend("2", "a", "1", "!"),
            opening("q", "request_id_conflict")],
           [("open", [("a", "mutable", "x!", "2")])]),
    Script("request ids are compared exactly", "requests", ["terminal:request:one-namespace"],
           [opening("o"), opening("O"), opening("o "), opening("\u00e9"), opening("e\u0301"),
            *map(opening, ALIKE[2:])],
           [("open", [])] * (3 + len(ALIKE))),
    Script("a failed request keeps its answer", "requests", ["terminal:request:rejected-occupies"],
           [closing("c", "context_not_open", "nowhere"), closing("c", "context_not_open", "nowhere"),
            opening("c", "request_id_conflict"), query("c", "request_id_conflict")]),
    Script("an invalid request occupies its id", "requests", ["terminal:request:rejected-occupies"],
           [broken(query("i"), body={"x": 1}), query("i", "request_id_conflict"),
            broken(opening("j"), body=[]), opening("j", "request_id_conflict"),
            broken(closing("k"), body={"force": True}), closing("k", "request_id_conflict")]),
    Script("an invalid request under a known id", "requests",
           ["terminal:request:invalid-first", "terminal:request:stored-stays"],
           [opening("o"), broken(opening("o"), body={"x": 1}), opening("o"),
            broken(query("o"), body={"x": 1}), opening("o"), closing("c"),
            broken(closing("c"), body={"x": 1}), closing("c")],
           [("closed", [])]),
    Script("a query of another version", "requests",
           ["terminal:request:other-version", "terminal:request:other-version-unrecorded"],
           [query("q", "unsupported", version=2), query("q", "unsupported", version=2147483647),
            query("q"), query("q", "unsupported", version=2), query("q"),
            query("r", "unsupported", version=3), opening("r")],
           [("open", [])]),
    Script("other messages of another version are met with silence", "requests",
           ["terminal:security:silent"],
           [broken(opening("o"), "", version=2), broken(query("q"), "", version=2, body={"x": 1}),
            broken(query("q"), "", version=2, request_id=""), opening("o"),
            broken(append("1", "a", "x"), "", version=2), append("1", "a", "x")],
           [("open", [A])]),
    Script("a terminal without the baseline", "requests", ["terminal:request:incomplete"],
           [query("q", "unsupported"), query("q", "unsupported"), query("r", "unsupported"),
            query("r", "unsupported", version=2)],
           options={"complete_baseline_supported": False}),
    Script("answers repeat version and ids", "requests", ["terminal:request:echo"],
           [query("\u00e9\"\\\n"), query("\U0001f642", "unsupported", version=9),
            opening("o\u0000"), closing("c\u007f")],
           [("closed", [])]),
)  # fmt: skip

CONTEXTS: Final = (
    Script("no query before an open", "contexts", ["terminal:context:no-query"],
           [opening("o"), append("1", "a", "x")], [("open", [A])]),
    Script("each open is another Context", "contexts", ["terminal:context:id-once"],
           [opening("1"), closing("2"), opening("3"), closing("4", context_id="context-2"),
            opening("5")],
           [("closed", []), ("closed", []), ("open", [])]),
    Script("Contexts do not see each other", "contexts", ["terminal:context:separate"],
           [opening("o"), opening("p"), append("1", "a", "one"),
            append("1", "a", "two", context_id="context-2"), append("2", "b", "one"),
            extend("2", "a", "1", "!", context_id="context-2"),
            extend("3", "b", "2", "!", "block_not_found", context_id="context-2"), closing("c"),
            extend("4", "a", "2", "!", context_id="context-2")],
           [("closed", [("a", "sealed", "one", "1"), ("b", "sealed", "one", "2")]),
            ("open", [("a", "mutable", "two!!", "4")])]),
    Script("a close seals and leaves the content", "contexts", ["terminal:context:close-seals"],
           [opening("o"), append("1", "a", "x"), append("2", "b", "y", lifecycle="sealed"),
            extend("3", "a", "1", "!"), closing("c")],
           [("closed", [("a", "sealed", "x!", "3"), ("b", "sealed", "y", "2")])]),
    Script("closed is closed again", "contexts", ["terminal:context:close-again"],
           [*START, closing("c"), closing("d"), closing("c"), closing("e")],
           [("closed", sealed(A))]),
    Script("a close of what is not there", "contexts", ["terminal:context:close-unknown"],
           [closing("c", "context_not_open", "nowhere"), opening("o"),
            closing("d", "context_not_open", "context-1 "),
            closing("e", "context_not_open", "CONTEXT-1"), closing("f")],
           [("closed", [])]),
    Script("no operation where no Context is open", "contexts", ["terminal:context:refuses"],
           [append("1", "a", "x", "context_not_open"), *START, closing("c"),
            append("2", "b", "x", "context_not_open"), update("3", "a", "x", "context_not_open"),
            extend("4", "a", "1", "x", "context_not_open"),
            replace("5", "a", "1", 0, "x", "context_not_open"), seal("6", "a", "context_not_open"),
            append("1", "a", "x", "context_not_open"),
            append("7", "a", "x", "context_not_open", context_id="nowhere")],
           [("closed", sealed(A))]),
    Script("an invalidated Context", "contexts",
           ["terminal:context:invalidated", "terminal:context:invalidated-silently"],
           [*START, opening("p"), append("2", "b", "y", lifecycle="sealed"),
            host("invalidate-context", context_id="context-1"),
            extend("3", "a", "1", "!", "context_not_open"), seal("4", "a", "context_not_open"),
            closing("c", "context_not_open"), append("1", "a", "x", context_id="context-2")],
           [("invalidated", [A, ("b", "sealed", "y", "2")]), ("open", [A])]),
    Script("a close before an invalidation is replayed", "contexts",
           ["terminal:context:invalidated"],
           [*START, closing("c"), host("invalidate-context", context_id="context-1"), closing("c"),
            closing("d")],
           [("closed", sealed(A))]),
    Script("the end of the connection", "contexts", ["terminal:context:end"],
           [*START, opening("p"), closing("c", context_id="context-2"), host("end-of-connection")],
           [("closed", sealed(A)), ("closed", [])]),
)  # fmt: skip

OPERATIONS: Final = (
    Script("operations that succeed are silent", "operations", ["terminal:operation:silent"],
           [*START, extend("2", "a", "1", "yz"), replace("3", "a", "2", 1, "YZ"),
            update("4", "a", "new"), seal("5", "a")],
           [("open", [("a", "sealed", "new", "4")])]),
    Script("a rejected operation changes nothing", "operations", ["terminal:operation:atomic"],
           [*START, append("2", "b", "y", lifecycle="sealed"), append("3", "a", "z", "block_id_reused"),
            update("4", "b", "z", "block_sealed"), update("5", "none", "z", "block_not_found"),
            extend("6", "a", "2", "z", "content_state_mismatch"),
            replace("7", "a", "1", 1, "z", "invalid_content_boundary"),
            extend("8", "a", "1", [{"text": "z"}], "invalid_content"), extend("9", "a", "1", "!")],
           [("open", [("a", "mutable", "x!", "9"), ("b", "sealed", "y", "2")])]),
    Script("an operation id is used once", "operations",
           ["terminal:operation:id-once", "terminal:operation:reused"],
           [*START, append("1", "b", "y", "operation_id_reused"),
            update("1", "a", "y", "operation_id_reused"),
            extend("1", "a", "1", "y", "operation_id_reused"),
            replace("1", "a", "1", 0, "y", "operation_id_reused"),
            seal("1", "a", "operation_id_reused"), seal("2", "none", "block_not_found"),
            seal("2", "a", "operation_id_reused"), extend("3", "a", "1", "!")],
           [("open", [("a", "mutable", "x!", "3")])]),
    Script("operation and Block ids are compared exactly", "operations",
           ["terminal:operation:id-once", "terminal:message:ids"],
           [opening("o"), *(append(name, name, "x") for name in ALIKE),
            *(append(name, "another", "x", "operation_id_reused") for name in ALIKE),
            extend("2", "\u00e9", "e\u0301", "!", "content_state_mismatch"),
            extend("3", "e\u0301", "e\u0301", "!"), extend("4", "K", "K", "?")],
           [("open", [(name, "mutable", *{"e\u0301": ("x!", "3"), "K": ("x?", "4")}.get(name, ("x", name)))
                      for name in ALIKE])]),
    Script("a failed append leaves its Block id free", "operations",
           ["terminal:operation:failed-append"],
           [opening("o"), append("1", "a", "x", "unsupported_content_type", type_name="text/none"),
            append("2", "a", "y"), append("3", "a", "z", "block_id_reused")],
           [("open", [("a", "mutable", "y", "2")])]),
    Script("Blocks stay in the order of their appends", "operations", ["terminal:operation:order"],
           [opening("o"), append("1", "c", "1"), append("2", "a", "2"), append("3", "b", "3"),
            update("4", "c", "4"), seal("5", "a"), extend("6", "b", "3", "!")],
           [("open", [("c", "mutable", "4", "4"), ("a", "sealed", "2", "2"),
                      ("b", "mutable", "3!", "6")])]),
    Script("an update keeps place and lifecycle", "operations", ["terminal:operation:update"],
           [*START, append("2", "b", "y"), update("3", "a", ""), extend("4", "a", "3", "still")],
           [("open", [("a", "mutable", "still", "4"), ("b", "mutable", "y", "2")])]),
    Script("the state is the last operation that changed the content", "operations",
           ["terminal:operation:state", "terminal:operation:base"],
           [*START, update("2", "a", "x"), extend("3", "a", "1", "y", "content_state_mismatch"),
            replace("4", "a", "2", 0, "x"), extend("5", "a", "2", "y", "content_state_mismatch"),
            replace("6", "a", "4", 0, ""), extend("7", "a", "6", "y")],
           [("open", [("a", "mutable", "y", "7")])]),
    Script("no failure becomes a state", "operations", ["terminal:operation:no-state"],
           [*START, update("2", "none", "y", "block_not_found"),
            extend("3", "a", "none", "y", "content_state_mismatch"),
            extend("4", "a", "3", "y", "content_state_mismatch"),
            extend("5", "a", "2", "y", "content_state_mismatch"), extend("6", "a", "1", "!"),
            seal("7", "a")],
           [("open", [("a", "sealed", "x!", "6")])]),
    Script("positions count scalars", "operations", ["terminal:operation:scalars"],
           [opening("o"), append("1", "a", "a\r\n\t\u001b" + FAMILY + "e\u0301"),
            replace("2", "a", "1", 14, "", "invalid_content_boundary"),
            replace("3", "a", "1", 13, "!"), replace("4", "a", "3", 5, "#"),
            replace("5", "a", "4", 2, "|")],
           [("open", [("a", "mutable", "a\r|", "5")])]),
    Script("retain is less than the length", "operations", ["terminal:operation:retain"],
           [opening("o"), append("1", "a", "abc"),
            replace("2", "a", "1", 3, "", "invalid_content_boundary"),
            replace("3", "a", "1", 9007199254740991, "", "invalid_content_boundary"),
            replace("4", "a", "1", 2, ""), replace("5", "a", "4", 0, ""),
            replace("6", "a", "5", 0, "x", "invalid_content_boundary"), extend("7", "a", "5", "x")],
           [("open", [("a", "mutable", "x", "7")])]),
    Script("a sealed Block changes no more", "operations", ["terminal:operation:sealed"],
           [*START, append("2", "b", "y", lifecycle="sealed"), seal("3", "a"),
            update("4", "a", "z", "block_sealed"), extend("5", "a", "1", "z", "block_sealed"),
            replace("6", "a", "1", 0, "z", "block_sealed"), seal("7", "a", "block_sealed"),
            extend("8", "b", "2", "z", "block_sealed"), seal("9", "b", "block_sealed"),
            append("10", "a", "z", "block_id_reused")],
           [("open", [("a", "sealed", "x", "1"), ("b", "sealed", "y", "2")])]),
    Script("a fragment without text is a state of its own", "operations",
           ["terminal:operation:empty-text"],
           [opening("o"), append("1", "s", [{"text": "x"}], type_name=STYLED),
            extend("2", "s", "1", [{"text": ""}]),
            extend("3", "s", "1", [{"text": "y"}], "content_state_mismatch"),
            extend("4", "s", "2", [{"text": "y"}])],
           [("open", [("s", "mutable", [{"text": "xy"}], "4", STYLED)])],
           options={"optional_content_types": [STYLED, LINES]}),
    Script("what terminals send is dropped", "operations", ["terminal:operation:for-application"],
           [Step({"version": 1, "kind": "context.open.response", "request_id": "o",
                  "context_id": "context-1", "body": {"outcome": "opened"}}),
            Step({"version": 1, "kind": "capability.response", "request_id": "o",
                  "body": {"outcome": "unsupported"}}),
            opening("o"),
            Step({"version": 1, "kind": "context.close.response", "request_id": "c",
                  "context_id": "context-1", "body": {"outcome": "closed"}}),
            Step({"version": 1, "kind": "protocol.error", "operation_id": "1",
                  "context_id": "context-1", "body": {"code": "block_sealed"}}),
            append("1", "a", "x"), closing("c")],
           [("closed", sealed(A))]),
    Script("one write, and everything in its order", "operations",
           ["terminal:operation:stream-order"],
           [Step(raw=["before", opening("o").message, "\u001b[1mbold", append("1", "a", "x").message,
                      seal("2", "b").message, "\r\n", closing("c").message, "after"],
                 answered=[
                     {"version": 1, "kind": "context.open.response", "request_id": "o",
                      "context_id": "context-1", "body": {"outcome": "opened"}},
                     {"version": 1, "kind": "protocol.error", "operation_id": "2",
                      "context_id": "context-1", "body": {"code": "block_not_found"}},
                     {"version": 1, "kind": "context.close.response", "request_id": "c",
                      "context_id": "context-1", "body": {"outcome": "closed"}}])],
           [("closed", sealed(A))]),
    Script("the host says no", "operations", ["terminal:operation:host"],
           [opening("o"), append("1", "a", "x", "resource_exhausted"),
            append("1", "a", "x", "operation_id_reused"), append("2", "a", "x"),
            extend("3", "a", "2", "!", "internal_error"), seal("4", "a", "internal_error"),
            extend("5", "a", "2", "?")],
           [("open", [("a", "mutable", "x?", "5")])],
           options={"host_prepare": {"1": "resource_exhausted", "3": "throw",
                                     "4": "internal_error"}}),
)  # fmt: skip

ERRORS: Final = (
    Script("the schema comes first", "errors", ["terminal:error:structure-first"],
           [broken(extend("1", "a", "0", "x", context_id="nowhere"), body={"block_id": "a"}),
            *START, broken(extend("1", "a", "1", "x"), body={}), extend("2", "a", "1", "!"),
            closing("c"), broken(extend("2", "a", "1", "x"), body={})],
           [("closed", [("a", "sealed", "x!", "2")])]),
    Script("an invalid operation uses its id up", "errors", ["terminal:error:invalid-uses-id"],
           [broken(append("1", "a", "x"), body=None), *START,
            broken(seal("2", "a"), body={"block_id": ""}), seal("2", "a", "operation_id_reused"),
            broken(extend("3", "a", "1", ""), body={"block_id": "a", "base_operation_id": "1",
                                                   "fragment": ""}),
            extend("3", "a", "1", "!", "operation_id_reused"), extend("4", "a", "1", "!")],
           [("open", [("a", "mutable", "x!", "4")])]),
    Script("who gets an answer", "errors", ["terminal:error:who", "terminal:security:silent"],
           [broken(query("q"), "", request_id=""), broken(query("q"), "", request_id=1),
            broken(query("q"), "", request_id=None), broken(query("q"), body=None),
            broken(opening("o"), "", kind="context.opened"), broken(opening("o"), "", kind=None),
            broken(opening("o"), "", version=None), broken(opening("o"), "", version="1"),
            broken(closing("c"), "", context_id=""), broken(closing("c"), "", context_id=None),
            broken(closing("c"), extra=1), opening("o"),
            broken(seal("1", "a"), "", operation_id=None), broken(seal("1", "a"), "", context_id=None),
            broken(seal("1", "a"), "", operation_id=["1"]), Step(text="[]"), Step(text='{"version":1'),
            broken(seal("1", "a"), request_id="r"), append("2", "a", "x")],
           [("open", [("a", "mutable", "x", "2")])]),
    Script("a type that is not on offer", "errors", ["terminal:error:type-first"],
           [*START, append("2", "b", [{"text": 1}], "unsupported_content_type", type_name=STYLED),
            append("3", "b", None, "unsupported_content_type", type_name="text/none"),
            update("4", "a", {"any": ["thing"]}, "unsupported_content_type", type_name="text/none"),
            append("5", "b", "x", "unsupported_content_type", type_name="TEXT/PLAIN"),
            extend("6", "a", "1", "!")],
           [("open", [("a", "mutable", "x!", "6")])]),
    Script("data that breaks a schema, and a fragment of another shape", "errors",
           ["terminal:error:schema-or-shape", "terminal:error:shape"],
           [*START, append("2", "b", 1, "invalid_message"),
            append("3", "b", [{"text": "x"}], "invalid_message"),
            extend("4", "a", "1", [{"text": "x"}], "invalid_content"),
            extend("5", "a", "1", [{"spans": [{"text": "x"}]}], "invalid_content"),
            replace("6", "a", "1", 0, [], "invalid_content"),
            extend("7", "a", "1", [{"text": "x"}, {"spans": []}], "invalid_message"),
            extend("8", "a", "1", [{"text": 1}], "invalid_message"), extend("9", "a", "1", "!")],
           [("open", [("a", "mutable", "x!", "9")])]),
    Script("the order of the checks", "errors", ["terminal:error:check-order"],
           [*START, append("2", "s", "y", lifecycle="sealed"),
            extend("1", "none", "0", "x", "context_not_open", context_id="nowhere",
                   others=["context_not_open"]),
            extend("1", "none", "0", "x", "operation_id_reused",
                   others=["operation_id_reused", "block_not_found"]),
            append("1", "a", "x", "operation_id_reused",
                   others=["operation_id_reused", "block_id_reused"]),
            append("3", "a", "x", "block_id_reused", type_name="text/none",
                   others=["block_id_reused", "unsupported_content_type"]),
            update("4", "s", "x", "block_sealed", type_name="text/none",
                   others=["block_sealed", "unsupported_content_type"]),
            extend("5", "s", "0", [{"text": "x"}], "block_sealed",
                   others=["block_sealed", "content_state_mismatch", "invalid_content"]),
            extend("6", "a", "0", [{"text": "x"}], "content_state_mismatch",
                   others=["content_state_mismatch", "invalid_content"]),
            replace("7", "a", "0", 9, "x", "content_state_mismatch",
                    others=["content_state_mismatch", "invalid_content_boundary"]),
            replace("8", "a", "1", 9, [{"text": "x"}], "invalid_content",
                    others=["invalid_content", "invalid_content_boundary"])],
           [("open", [A, ("s", "sealed", "y", "2")])]),
    Script("validity stands behind Context, Block and state, and before the end", "errors",
           ["terminal:error:check-order"],
           [opening("o"), append("1", "a", [{"text": "x"}], type_name=STYLED),
            append("2", "b", [{"text": "x"}], type_name=STYLED, lifecycle="sealed"),
            append("3", "c", [laid_out("abc", "left"), laid_out("d", "right")], type_name=LINES),
            append("4", "n", NO_STYLE, "context_not_open", type_name=STYLED, context_id="nowhere"),
            append("1", "n", NO_STYLE, "operation_id_reused", type_name=STYLED,
                   others=["operation_id_reused", "invalid_content"]),
            append("5", "a", NO_STYLE, "block_id_reused", type_name=STYLED,
                   others=["block_id_reused", "invalid_content"]),
            update("6", "none", NO_STYLE, "block_not_found", type_name=STYLED,
                   others=["block_not_found", "invalid_content"]),
            update("7", "b", NO_STYLE, "block_sealed", type_name=STYLED,
                   others=["block_sealed", "invalid_content"]),
            extend("8", "a", "0", NO_STYLE, "content_state_mismatch",
                   others=["content_state_mismatch", "invalid_content"]),
            replace("9", "a", "1", 9, NO_STYLE, "invalid_content",
                    others=["invalid_content", "invalid_content_boundary"]),
            extend("10", "c", "0", [laid_out("e", "center")], "content_state_mismatch",
                   others=["content_state_mismatch", "invalid_content"]),
            extend("11", "c", "3", [laid_out("e", "center")], "invalid_content"),
            replace("12", "c", "3", 5, [laid_out("e", "center")], "invalid_content_boundary"),
            update("13", "a", NO_STYLE, "invalid_content", type_name=STYLED),
            extend("14", "c", "3", [laid_out("e", "right")])],
           [("open", [("a", "mutable", [{"text": "x"}], "1", STYLED),
                      ("b", "sealed", [{"text": "x"}], "2", STYLED),
                      ("c", "mutable", [line("abc"), laid_out("de", "right")], "14", LINES)])],
           options={"optional_content_types": [STYLED, LINES]}),
)  # fmt: skip

LIMITS: Final = (
    Script("more than a Block may hold", "limits", ["terminal:limit:answer"],
           [opening("o"), append("1", "a", "abcde", "resource_exhausted"), append("2", "a", "\u00e9"),
            extend("3", "a", "2", "abc", "resource_exhausted"), extend("4", "a", "2", "ab"),
            replace("5", "a", "4", 2, "xyz", "resource_exhausted"), replace("6", "a", "4", 2, "x"),
            update("7", "a", "12345", "resource_exhausted"), update("8", "a", "1234")],
           [("open", [("a", "mutable", "1234", "8")])],
           options={"limits": {"block_bytes_max": 4}}),
    Script("what is removed counts with all its bytes", "limits", ["terminal:limit:answer"],
           [opening("o"), append("1", "a", "\u00e9\u00e9"), replace("2", "a", "1", 1, "abc", "resource_exhausted"),
            replace("3", "a", "1", 1, "ab"), replace("4", "a", "3", 0, "\U0001f642"),
            replace("5", "a", "4", 0, "abcde", "resource_exhausted"), replace("6", "a", "4", 0, "abcd")],
           [("open", [("a", "mutable", "abcd", "6")])],
           options={"limits": {"block_bytes_max": 4}}),
    Script("a fragment in the style that is there pays for no style", "limits", ["terminal:limit:answer"],
           [opening("o"), append("1", "a", bold("x"), type_name=STYLED), extend("2", "a", "1", bold("yz")),
            extend("3", "a", "2", bold("!"), "resource_exhausted"),
            extend("4", "a", "2", [{"text": "!"}], "resource_exhausted"), extend("5", "a", "2", bold("")),
            replace("6", "a", "5", 2, [{"text": "w"}]),
            replace("7", "a", "6", 0, [{"text": "a"}, *bold("b"), {"text": ""}, *bold("c")]),
            replace("8", "a", "7", 2, [{"text": "c"}, *bold("d")], "resource_exhausted"),
            replace("9", "a", "7", 0, [{"text": "a" * 163}])],
           [("open", [("a", "mutable", [{"text": "a" * 163}], "9", STYLED)])],
           options={"limits": {"block_bytes_max": 163}, "optional_content_types": [STYLED]}),
    Script("a fragment that goes on in a line pays for no line", "limits", ["terminal:limit:answer"],
           [opening("o"), append("1", "a", [line("ab"), line("c")], type_name=LINES),
            extend("2", "a", "1", [line("d"), line("")], "resource_exhausted"), extend("3", "a", "1", [line("d")]),
            extend("4", "a", "3", [line("e")], "resource_exhausted"), replace("5", "a", "3", 2, [line("ef")]),
            replace("6", "a", "5", 1, [line("b"), line("cd")]),
            replace("7", "a", "6", 2, [line(""), line("c"), line("")], "resource_exhausted")],
           [("open", [("a", "mutable", [line("ab"), line("cd")], "6", LINES)])],
           options={"limits": {"block_bytes_max": 37}, "optional_content_types": [LINES]}),
    Script("more Blocks than a Context may have", "limits", ["terminal:limit:answer"],
           [*START, append("2", "b", "y"), append("3", "c", "z", "resource_exhausted"),
            append("4", "a", "z", "block_id_reused"), opening("p"),
            append("1", "c", "z", context_id="context-2")],
           [("open", [A, ("b", "mutable", "y", "2")]), ("open", [("c", "mutable", "z", "1")])],
           options={"limits": {"blocks_max": 2}}),
    Script("a Context that is full of ids", "limits",
           ["terminal:limit:full-context", "terminal:limit:never-forget"],
           [*START, seal("2", "none", "block_not_found"), seal("3", "a", "resource_exhausted"),
            seal("1", "a", "resource_exhausted"), append("3", "b", "x", "resource_exhausted"),
            broken(seal("4", "a"), body={}), opening("p"),
            append("1", "a", "x", context_id="context-2"), closing("c"),
            seal("3", "a", "context_not_open")],
           [("closed", sealed(A)), ("open", [A])],
           options={"limits": {"operation_ids_max": 2}}),
    Script("an invalid operation fills a Context", "limits", ["terminal:limit:full-context"],
           [*START, opening("p"), append("1", "a", "x", context_id="context-2"), broken(seal("2", "a"), body={}),
            closing("c", context_id="context-2"), seal("3", "a", "resource_exhausted"),
            append("1", "a", "x", "resource_exhausted"), closing("d")],
           [("closed", sealed(A)), ("closed", sealed(A))],
           options={"limits": {"connection_operation_ids_max": 2}}),
    Script("an operation that is refused for want of room fills a Context", "limits",
           ["terminal:limit:full-context"],
           [*START, opening("p"), append("1", "a", "x", context_id="context-2"),
            extend("2", "a", "1", "!", "resource_exhausted"), closing("c", context_id="context-2"),
            extend("3", "a", "1", "!", "resource_exhausted"), opening("q"),
            append("1", "a", "x", context_id="context-3")],
           [("open", [A]), ("closed", sealed(A)), ("open", [A])],
           options={"limits": {"connection_operation_ids_max": 2}}),
    Script("what records no id fills no Context", "limits", ["terminal:limit:not-full"],
           [*START, opening("p"), append("1", "a", "x", context_id="context-2"),
            seal("1", "a", "resource_exhausted"), broken(seal("1", "a"), body={}),
            seal("22222", "a", "resource_exhausted"), broken(seal("22222", "a"), body={}),
            closing("c", context_id="context-2"), seal("1", "a", "operation_id_reused"),
            extend("2", "a", "1", "!")],
           [("open", [("a", "mutable", "x!", "2")]), ("closed", sealed(A))],
           options={"limits": {"connection_operation_ids_max": 2, "id_chars_max": 4}}),
    Script("a Context that is full of scalars", "limits", ["terminal:limit:full-context"],
           [opening("o"), append("1", "a", "x"), append("234", "bcd", "y"), append("5", "e", "z", "resource_exhausted"),
            seal("1", "a", "resource_exhausted")],
           [("open", [A, ("bcd", "mutable", "y", "234")])],
           options={"limits": {"context_id_chars_max": 5}}),
    Script("a connection that is full of scalars", "limits",
           ["terminal:limit:full-context", "terminal:limit:answer"],
           [opening("o"), opening("p"), opening("q"), append("123", "abc", "x"), extend("4", "abc", "123", "!"),
            append("1", "a", "x", context_id="context-2"), seal("2", "a", context_id="context-2"),
            extend("3", "a", "1", "!", "resource_exhausted", context_id="context-3"), closing("c"),
            append("1", "a", "x", "resource_exhausted", context_id="context-3"), opening("r"),
            append("12", "b", "x", context_id="context-4"),
            append("3", "c", "x", "resource_exhausted", context_id="context-4")],
           [("closed", [("abc", "sealed", "x!", "4")]), ("open", [("a", "sealed", "x", "1")]),
            ("open", []), ("open", [("b", "mutable", "x", "12")])],
           options={"limits": {"connection_id_chars_max": 10}}),
    Script("an id that is too long", "limits", ["terminal:limit:long-id"],
           [opening("o"), append("12345", "a", "x", "resource_exhausted"),
            append("12345", "a", "x", "resource_exhausted"), append("1234", "a", "x"),
            append("2", "abcde", "x", "resource_exhausted"), query("12345", "resource_exhausted"),
            query("12345", "resource_exhausted"), query("1234")],
           [("open", [("a", "mutable", "x", "1234")])],
           options={"limits": {"id_chars_max": 4}}),
    Script("a connection that is full of outcomes", "limits", ["terminal:limit:requests"],
           [opening("o"), query("q"), closing("c", "resource_exhausted"),
            query("r", "resource_exhausted"), query("q"), opening("o"),
            opening("q", "request_id_conflict"), broken(query("s"), body=[]),
            query("s", "resource_exhausted")],
           [("open", [])],
           options={"limits": {"requests_max": 2}}),
    Script("a trimmed Block", "limits",
           ["terminal:limit:trimmed", "terminal:limit:trimmed-for-good"],
           [*START, host("evict-block", context_id="context-1", block_id="a"),
            update("2", "a", "y", "resource_exhausted"),
            extend("3", "a", "1", "y", "resource_exhausted"),
            replace("4", "a", "1", 0, "y", "resource_exhausted"),
            append("5", "a", "y", "block_id_reused"), seal("6", "a"),
            seal("7", "a", "block_sealed")],
           [("open", [("a", "sealed", None, "1")])]),
)  # fmt: skip

SCRIPTS: Final = (*REQUESTS, *CONTEXTS, *OPERATIONS, *ERRORS, *LIMITS)
