# ruff: noqa: D103, INP001 - tables beside a program, not a package
"""What the vectors of the codec are made of: messages, spellings, and what is wrong with others.

Every expectation stands here, written by hand; none is asked of blockwire. A row is a name, what
it proves, and the input; of an invalid one also the local code and whether it names itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

Record = dict[str, Any]

TO_TERMINAL: Final = "tui-to-terminal"
TO_APPLICATION: Final = "terminal-to-tui"

# One message of each kind, with nothing that could be left out.
MINIMAL: Final[dict[str, Record]] = {
    "capability.query": {"request_id": "q", "body": {}},
    "capability.response": {"request_id": "q", "body": {"outcome": "unsupported"}},
    "context.open": {"request_id": "q", "body": {}},
    "context.open.response": {
        "request_id": "q", "context_id": "c", "body": {"outcome": "opened"},
    },
    "context.close": {"request_id": "q", "context_id": "c", "body": {}},
    "context.close.response": {
        "request_id": "q", "context_id": "c", "body": {"outcome": "closed"},
    },
    "block.append": {
        "operation_id": "o", "context_id": "c",
        "body": {
            "block_id": "b", "lifecycle": "mutable",
            "content": {"type": "text/plain", "data": "tea"},
        },
    },
    "block.update": {
        "operation_id": "o", "context_id": "c",
        "body": {"block_id": "b", "content": {"type": "text/plain", "data": "tea"}},
    },
    "block.extend": {
        "operation_id": "o", "context_id": "c",
        "body": {"block_id": "b", "base_operation_id": "n", "fragment": "tea"},
    },
    "block.replace_suffix": {
        "operation_id": "o", "context_id": "c",
        "body": {"block_id": "b", "base_operation_id": "n", "retain": 1, "replacement": "tea"},
    },
    "block.seal": {"operation_id": "o", "context_id": "c", "body": {"block_id": "b"}},
    "protocol.error": {"operation_id": "o", "context_id": "c", "body": {"code": "block_sealed"}},
}  # fmt: skip
FROM_TERMINAL: Final = frozenset(
    {"capability.response", "context.open.response", "context.close.response", "protocol.error"}
)
REQUESTS: Final = frozenset({"capability.query", "context.open", "context.close"})
ENVELOPE_IDS: Final = ("request_id", "operation_id", "context_id")

SPANS: Final = [
    {"text": "tea", "style": {"foreground": "#00ff7f", "attributes": ["bold", "italic"]}},
    {"text": ""},
    {"text": " time", "style": {"background": "bright_black", "link": "https://tea.example/"}},
]
LINES: Final = [
    {"spans": []},
    {
        "spans": SPANS,
        "layout": {
            "wrap": "none", "align": "right", "first_prefix": [{"text": "- "}],
            "rest_prefix": [{"text": "  "}], "fill": {"background": "#102030"},
        },
    },
]  # fmt: skip

BOTH_PATHS: Final = ("invalid_message", "context_not_open", "resource_exhausted", "internal_error")
CONTROL_ONLY: Final = ("request_id_conflict",)
OPERATION_ONLY: Final = (
    "operation_id_reused", "block_id_reused", "block_not_found", "block_sealed",
    "unsupported_content_type", "invalid_content", "content_state_mismatch",
    "invalid_content_boundary",
)  # fmt: skip


def message(kind: str, **members: Any) -> Record:
    return {"version": 1, "kind": kind, **MINIMAL[kind], **members}


def body(kind: str, **members: Any) -> Record:
    return message(kind, body={**MINIMAL[kind]["body"], **members})


def content(type_name: str, data: Any) -> Record:
    return body("block.update", content={"type": type_name, "data": data})


def compact(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8")


# valid ----------------------------------------------------------------------------------------
class Valid(NamedTuple):
    """A message, and another text of it than the compact one, if the text is the point."""

    name: str
    requirement: str
    message: Record
    text: bytes | None = None


def valid() -> Iterator[Valid]:
    for kind in MINIMAL:
        yield Valid(f"{kind}, the least of it", "terminal:message:closed", message(kind))
    yield from _valid_answers()
    yield from _valid_content()
    yield from _valid_scalars()
    yield from _valid_spellings()


def _valid_answers() -> Iterator[Valid]:
    for listed in ([], ["text/styled"], ["text/lines", "text/styled", "x"], ["TEXT/PLAIN"]):
        yield Valid(
            f"supported with {listed}",
            "terminal:message:optional-types",
            message(
                "capability.response",
                body={"outcome": "supported", "optional_content_types": listed},
            ),
        )
    for kind in ("capability.response", "context.open.response", "context.close.response"):
        failed = message(kind)
        if kind == "context.open.response":
            del failed["context_id"]
        for code in (*BOTH_PATHS, *CONTROL_ONLY):
            failed["body"] = {"outcome": "error", "error": {"code": code, "message": ""}}
            yield Valid(f"{kind}: {code}", "terminal:message:error-paths", {**failed})
    for code in (*BOTH_PATHS, *OPERATION_ONLY):
        yield Valid(
            f"protocol.error: {code}",
            "terminal:message:error-paths",
            body("protocol.error", code=code, message="for people"),
        )


def _valid_content() -> Iterator[Valid]:
    for name, data in (("no spans", []), ("spans", SPANS)):
        yield Valid(f"text/styled: {name}", "terminal:message:data", content("text/styled", data))
    for name, lines in (("no lines", []), ("lines", LINES)):
        yield Valid(f"text/lines: {name}", "terminal:message:data", content("text/lines", lines))
    unread: tuple[Any, ...] = (None, True, 0, -1.5, 10**30, "", [], {"a": [{"b": None}]}, [[[]]])
    for data in unread:
        yield Valid(
            f"a type that nobody knows: {data!r}",
            "terminal:message:unread-data",
            content("image/none", data),
        )
    fragments: tuple[tuple[str, Any], ...] = (
        ("text", "."), ("spans", SPANS), ("lines", LINES), ("a span without text", [{"text": ""}]),
        ("a line without spans", [{"spans": []}]),
    )  # fmt: skip
    for name, fragment in fragments:
        yield Valid(
            f"fragment: {name}",
            "terminal:message:empty-fragment",
            body("block.extend", fragment=fragment),
        )
    for name, replacement in (*fragments, ("no text", ""), ("no element", [])):
        yield Valid(
            f"replacement: {name}",
            "terminal:message:fragment",
            body("block.replace_suffix", replacement=replacement),
        )
    yield Valid(
        "lifecycle sealed", "terminal:message:scalars", body("block.append", lifecycle="sealed")
    )


def _valid_scalars() -> Iterator[Valid]:
    for retain in (0, 2**31, 2**53 - 1):
        yield Valid(
            f"retain {retain}",
            "terminal:message:scalars",
            body("block.replace_suffix", retain=retain),
        )
    ids = (" ", "\u00e9", "e\u0301", "Q", "0", "null", "\x00", "\ufeff", "x" * 5_000, "__proto__")
    for value in ids:
        yield Valid(
            f"an id {value[:9]!a}",
            "terminal:message:ids",
            message("context.open", request_id=value),
        )
    scalars = '\x00\x01\x1b\x1f "\\/\x7f\x80\x9b\u2028\ud7ff\ue000\ufdd0\ufffd\ufffe\uffff\U0001f642\U0010ffff'
    yield Valid(
        "a text of awkward scalars",
        "terminal:json:any-scalar",
        body("block.extend", fragment=scalars),
    )


def _valid_spellings() -> Iterator[Valid]:
    seal = message("block.seal")
    yield Valid(
        "blanks between all tokens",
        "terminal:json:free-spelling",
        seal,
        b" \t\r\n" + json.dumps(seal, indent=3).encode() + b"\n ",
    )
    yield Valid(
        "members in another order",
        "terminal:json:free-spelling",
        seal,
        compact(dict(reversed(seal.items()))),
    )
    yield Valid(
        "escapes in names and values",
        "terminal:json:free-spelling",
        seal,
        compact(seal).replace(b'"kind"', b'"\\u006bind"').replace(b'"b"', b'"\\u0062"'),
    )
    yield Valid(
        "a pair of surrogates",
        "terminal:json:free-spelling",
        body("block.extend", fragment="\U0001f642/\b\f"),
        compact(body("block.extend", fragment="@")).replace(b"@", b"\\uD83D\\ude42\\/\\b\\f"),
    )
    yield Valid(
        "retain -0",
        "terminal:json:integers",
        body("block.replace_suffix", retain=0),
        compact(body("block.replace_suffix")).replace(b'"retain":1', b'"retain":-0'),
    )
    nested: Any = 7
    for _ in range(64 - 3):
        nested = [nested]
    yield Valid("64 levels", "terminal:json:depth", content("image/none", nested))
    yield Valid(
        "an integer of 400 digits in content that is not read",
        "terminal:json:vast-numbers",
        content("image/none", int("9" * 400)),
    )
    yield Valid(
        "integers of 4300 digits in content that is not read",
        "terminal:json:vast-numbers",
        content("image/none", [int("9" * 4_300), -int("9" * 4_300)]),
        compact(content("image/none", "@")).replace(
            b'"@"', b"[%b,-%b]" % (b"9" * 4_300, b"9" * 4_300)
        ),
    )


# invalid --------------------------------------------------------------------------------------
class Invalid(NamedTuple):
    """A text that is no message, the local code, and what names its sender's message."""

    name: str
    requirement: str
    text: bytes
    code: str
    identity: Record | None = None


def identity_of(found: Record) -> Record | None:
    """Return what an invalid message of a known kind with good ids is named by."""
    kind = found["kind"]
    if kind in FROM_TERMINAL:
        return None
    names = ("request_id", "context_id") if kind in REQUESTS else ("operation_id", "context_id")
    ids = {name: found[name] for name in names if name in MINIMAL[kind]}
    return {"category": "control" if kind in REQUESTS else "operation", "kind": kind, **ids}


def invalid() -> Iterator[Invalid]:
    yield from _no_json()
    yield from _no_numbers()
    yield from _vast_numbers()
    yield from _no_version_or_kind()
    yield from _envelopes()
    yield from _members()
    yield from _scalars()
    yield from _answers()
    yield from _contents()


_QUERY: Final = compact(message("capability.query"))


def _no_json() -> Iterator[Invalid]:
    def row(name: str, area: str, text: bytes, code: str) -> Invalid:
        return Invalid(f"json: {name}", f"terminal:json:{area}", text, code)

    def in_id(text: bytes) -> bytes:
        return _QUERY.replace(b'"q"', b'"' + text + b'"')

    for name, text in (
        ("an overlong NUL", b"\xc0\x80"), ("a lone continuation byte", b"\x80"),
        ("an encoded low surrogate", b"\xed\xb0\x80"), ("beyond U+10FFFF", b"\xf4\x90\x80\x80"),
        ("three of four bytes", b"\xf0\x9f\x99"), ("byte FE", b"\xfe"),
    ):  # fmt: skip
        yield row(name, "unicode", in_id(text), "invalid_unicode")
    for name, escape in (
        ("a lone high surrogate", b"\\ud800"), ("a lone low surrogate", b"\\udfff"),
        ("surrogates in the wrong order", b"\\udc00\\ud800"), ("two high ones", b"\\ud800\\ud800"),
    ):  # fmt: skip
        yield row(name, "unicode", in_id(escape), "invalid_unicode")
    yield row(
        "a lone surrogate in a name inside content that is not read",
        "unicode",
        compact(content("image/none", [{"@": 1}])).replace(b"@", b"\\ud800"),
        "invalid_unicode",
    )
    for name, text in (
        ("blanks", b" \n"), ("cut off", _QUERY[:-1]), ("a comma too many", _QUERY[:-1] + b",}"),
        ("a comment", b"/**/" + _QUERY), ("NaN", _QUERY.replace(b"1", b"NaN")),
        ("-Infinity", _QUERY.replace(b"1", b"-Infinity")), ("01", _QUERY.replace(b"1", b"01")),
        ("+1", _QUERY.replace(b"1", b"+1")), ("1.", _QUERY.replace(b"1", b"1.")),
        ("a raw LF in a string", in_id(b"\n")), ("a raw NUL in a string", in_id(b"\x00")),
        ("an unknown escape", in_id(b"\\x41")), ("half an escape", in_id(b"\\u004")),
        ("single quotes", _QUERY.replace(b'"', b"'")), ("a form feed", _QUERY + b"\x0c"),
        ("a no-break space", b"\xc2\xa0" + _QUERY), ("UTF-16", _QUERY.decode().encode("utf-16-le")),
    ):  # fmt: skip
        yield row(name, "grammar", text, "invalid_json")
    for name, text in (
        ("a byte-order mark", b"\xef\xbb\xbf" + _QUERY), ("two objects", _QUERY + _QUERY),
        ("an object and a letter", _QUERY + b"x"),
    ):  # fmt: skip
        yield row(name, "one-object", text, "invalid_json")
    for text in (b"null", b"true", b"0", b'"{}"', b"[%b]" % _QUERY):
        yield row(text.decode()[:9], "one-object", text, "not_an_object")
    for name, text in (
        ("version twice, the same", _QUERY.replace(b"{", b'{"version":1,', 1)),
        ("a name twice, once with an escape", _QUERY[:-1] + b',"\\u0062ody":{}}'),
        ("twice in a body", _QUERY.replace(b"{}", b'{"a":1,"a":2}')),
        ("twice in content that is not read",
         compact(content("image/none", "@")).replace(b'"@"', b'[{"a":[{"b":1,"b":1}]}]')),
        ("twice in a span",
         compact(content("text/styled", "@")).replace(b'"@"', b'[{"text":"a","text":"a"}]')),
    ):  # fmt: skip
        yield row(name, "duplicates", text, "duplicate_member")
    for name, levels in (("65", 62), ("2,000", 1_997)):
        deep = compact(content("image/none", "@")).replace(b'"@"', b"[" * levels + b"]" * levels)
        yield row(f"{name} levels", "depth", deep, "nesting_too_deep")
    yield row("one brace", "silent", b"{", "invalid_json")


def _no_numbers() -> Iterator[Invalid]:
    unread = compact(content("image/none", "@"))
    for word in (b"NaN", b"Infinity", b"-Infinity", b"[0,NaN]", b"undefined", b"0x1", b"01"):
        yield Invalid(
            f"json: {word.decode()} in content that is not read",
            "terminal:json:grammar",
            unread.replace(b'"@"', word),
            "invalid_json",
        )


def _vast_numbers() -> Iterator[Invalid]:
    suffix = body("block.replace_suffix")
    for name, number in (
        ("1e999", b"1e999"), ("-1e999", b"-1e999"), ("5,000 digits", b"9" * 5_000),
        ("4,301 digits", b"9" * 4_301),
        ("400 digits and a fraction", b"9" * 400 + b".5"),
    ):  # fmt: skip
        yield Invalid(
            f"json: retain is {name}",
            "terminal:json:vast-numbers",
            compact(suffix).replace(b'"retain":1', b'"retain":' + number),
            "number_out_of_range",
            identity_of(suffix),
        )
    unread = content("image/none", "1e999")
    yield Invalid(
        "json: 1e999 inside content that is not read, beside a string of its letters",
        "terminal:json:vast-numbers",
        compact(unread).replace(b'"1e999"', b'["1e999",{"\\"":1e999}]'),
        "number_out_of_range",
        identity_of(unread),
    )
    for name, number in (
        ("4,301 digits", b"9" * 4_301), ("minus 4,301 digits", b"-" + b"9" * 4_301),
        ("400 digits, a fraction and no exponent", b"9" * 400 + b".0"), ("1E+309", b"1E+309"),
    ):  # fmt: skip
        yield Invalid(
            f"json: {name} in content that is not read",
            "terminal:json:vast-numbers",
            compact(unread).replace(b'"1e999"', number),
            "number_out_of_range",
            identity_of(unread),
        )
    yield Invalid(
        "json: version is 1e999",
        "terminal:json:vast-numbers",
        _QUERY.replace(b"1", b"1e999"),
        "number_out_of_range",
    )
    yield Invalid(
        "json: 1e999, and a name twice behind it",
        "terminal:json:silent",
        _QUERY[:-1] + b',"a":[1e999],"a":1}',
        "duplicate_member",
    )
    yield Invalid(
        "json: 5,000 digits, and a name twice behind it",
        "terminal:json:silent",
        _QUERY[:-1] + b',"a":[%b],"a":1}' % (b"9" * 5_000),
        "duplicate_member",
    )
    yield Invalid(
        "json: 1e999, and 65 levels behind it",
        "terminal:json:silent",
        _QUERY[:-1] + b',"a":1e999,"b":' + b"[" * 64 + b"]" * 64 + b"}",
        "nesting_too_deep",
    )


_NO_IDS: Final[tuple[Any, ...]] = ("", 1, None, True, [], {"id": "q"})


def _no_version_or_kind() -> Iterator[Invalid]:
    versions: tuple[Any, ...] = (0, -1, 2**31, "1", None, True, [1], {}, 10**30)
    for version in versions:
        yield Invalid(
            f"version: {version!r}",
            "terminal:message:version",
            compact(message("capability.query", version=version)),
            "unknown_version",
        )
    for spelling in (b"1.0", b"1e0", b"10e-1"):
        yield Invalid(
            f"version: {spelling.decode()}",
            "terminal:json:integers",
            _QUERY.replace(b"1", spelling),
            "unknown_version",
        )
    for kind in MINIMAL:
        if kind != "capability.query":
            yield Invalid(
                f"version: 2 of {kind}",
                "terminal:message:version",
                compact(message(kind, version=2)),
                "unknown_version",
            )
    unknown: tuple[Any, ...] = (
        "",
        "block",
        "Block.seal",
        "block.seal ",
        "constructor",
        None,
        1,
        [],
        {},
    )
    for name in unknown:
        yield Invalid(
            f"kind: {name!r}",
            "terminal:message:kinds",
            compact({**message("block.seal"), "kind": name}),
            "unknown_kind",
        )
    for name in ("version", "kind"):
        rest = message("block.seal")
        del rest[name]
        yield Invalid(
            f"no {name}", f"terminal:message:{name}".replace("kind", "kinds"),
            compact(rest), f"unknown_{name}",
        )  # fmt: skip


def _envelopes() -> Iterator[Invalid]:
    for kind, members in MINIMAL.items():
        whole = message(kind)
        for name in ENVELOPE_IDS:
            if name in members:
                rest = {**whole}
                del rest[name]
                for label, changed in (
                    (f"without {name}", rest),
                    *((f"{name} is {it!r}", {**whole, name: it}) for it in _NO_IDS),
                ):
                    yield Invalid(
                        f"{kind}: {label}",
                        "terminal:message:nameless",
                        compact(changed),
                        "invalid_message",
                    )
            else:
                for it in ("z", ""):
                    yield Invalid(
                        f"{kind}: with {name} {it!r}",
                        "terminal:message:extra-id",
                        compact({**whole, name: it}),
                        "invalid_message",
                        identity_of(whole),
                    )


def _members() -> Iterator[Invalid]:
    for kind in MINIMAL:
        whole = message(kind)
        area = "terminal:message:nameless" if kind in FROM_TERMINAL else "terminal:message:identity"
        bare = {**whole}
        del bare["body"]
        changes: list[tuple[str, Record]] = [
            ("without body", bare),
            ("an unknown member", {**whole, "z": None}),
            ("Body", {**bare, "Body": whole["body"]}),
            ("an unknown member in body", {**whole, "body": {**whole["body"], "z": None}}),
            *(
                (f"body is {it!r}", {**whole, "body": it})
                for it in (None, [], "", 0, [whole["body"]])
            ),
        ]
        for name in whole["body"]:
            part = {**whole["body"]}
            del part[name]
            changes.append((f"without body.{name}", {**whole, "body": part}))
            changes.append(
                (f"body.{name} is null", {**whole, "body": {**whole["body"], name: None}})
            )
        for label, changed in changes:
            yield Invalid(
                f"{kind}: {label}", area, compact(changed), "invalid_message", identity_of(whole)
            )


def _scalars() -> Iterator[Invalid]:
    def row(kind: str, name: str, value: Any) -> Invalid:
        found = body(kind, **{name: value})
        return Invalid(
            f"{kind}: {name} is {value!r}",
            "terminal:message:scalars",
            compact(found),
            "invalid_message",
            identity_of(found),
        )

    counts: tuple[Any, ...] = (-1, 2**53, 10**40, 0.5, "1", True, None, [], {})
    for value in counts:
        yield row("block.replace_suffix", "retain", value)
    for spelling in (b"1.0", b"1e0", b"-0.0"):
        yield Invalid(
            f"block.replace_suffix: retain is {spelling.decode()}",
            "terminal:json:integers",
            compact(body("block.replace_suffix")).replace(b'"retain":1', b'"retain":' + spelling),
            "invalid_message",
            identity_of(message("block.replace_suffix")),
        )
    for value in ("", 1, None, [], {}):
        for kind in ("block.append", "block.update", "block.extend", "block.replace_suffix", "block.seal"):  # fmt: skip
            yield row(kind, "block_id", value)
        yield row("block.extend", "base_operation_id", value)
        yield row("block.replace_suffix", "base_operation_id", value)
    for value in ("", "Sealed", "open", True, None, ["sealed"]):
        yield row("block.append", "lifecycle", value)


def _answers() -> Iterator[Invalid]:
    def row(name: str, area: str, found: Record) -> Invalid:
        return Invalid(name, f"terminal:message:{area}", compact(found), "invalid_message")

    def supported(listed: Any) -> Record:
        members = {"outcome": "supported", "optional_content_types": listed}
        return message("capability.response", body=members)

    lists: tuple[Any, ...] = (
        ["text/plain"],
        ["x", "text/plain"],
        ["x", "x"],
        [""],
        [1],
        [None],
        "x",
        {},
        None,
    )
    for listed in lists:
        yield row(f"supported lists {listed!r}", "optional-types", supported(listed))
    failure = {"outcome": "error", "error": {"code": "internal_error"}}
    bodies: tuple[tuple[str, Record], ...] = (
        ("supported without a list", {"outcome": "supported"}),
        ("unsupported with a list", {"outcome": "unsupported", "optional_content_types": []}),
        ("supported with an error", {**failure, "outcome": "supported"}),
        ("an error with a list", {**failure, "optional_content_types": []}),
        ("an error without one", {"outcome": "error"}),
        ("opened", {"outcome": "opened"}), ("Supported", {"outcome": "Supported"}),
        ("no outcome", {"error": {"code": "internal_error"}}),
        ("an error that is text", {"outcome": "error", "error": "internal_error"}),
        ("an error with a detail", {"outcome": "error", "error": {"code": "internal_error", "detail": ""}}),
        ("a message that is null", {"outcome": "error", "error": {"code": "internal_error", "message": None}}),
    )  # fmt: skip
    for name, members in bodies:
        yield row(
            f"capability.response: {name}", "outcomes", message("capability.response", body=members)
        )
    nameless = message("context.open.response")
    del nameless["context_id"]
    yield row("opened without context_id", "opened", nameless)
    yield row(
        "not opened with context_id", "opened", message("context.open.response", body=failure)
    )
    for code in (*OPERATION_ONLY, "", "no_such_code", "INTERNAL_ERROR", 5, None):
        for kind in ("capability.response", "context.close.response"):
            failed = message(kind, body={"outcome": "error", "error": {"code": code}})
            yield row(f"{kind}: code {code!r}", "error-paths", failed)
    for code in (*CONTROL_ONLY, "", "no_such_code", 5, None):
        yield row(
            f"protocol.error: code {code!r}", "error-paths", body("protocol.error", code=code)
        )


_MIXED: Final = [{"text": "a"}, {"spans": []}]
_NO_SPANS: Final[tuple[Any, ...]] = (
    [1], [""], [None], [[]], [{}], [{"text": 1}], [{"text": "a", "z": 1}], _MIXED, _MIXED[::-1],
    [{"text": "a", "style": None}], [{"text": "a", "style": {"foreground": "#ABCDEF"}}],
    [{"text": "a", "style": {"attributes": ["bold", "bold"]}}],
    [{"text": "a", "style": {"attributes": ["blink"]}}],
    [{"text": "a", "style": {"foreground": "#abcdef\n"}}],
    [{"text": "a", "style": {"background": "red\n"}}],
)  # fmt: skip
_NO_LINES: Final[tuple[Any, ...]] = (
    [{"text": "a"}], [{"spans": "a"}], [{"spans": [{}]}], [{"spans": [], "layout": {"wrap": "hard"}}],
    [{"spans": [], "layout": None}], [{"spans": [], "layout": {"Wrap": "word"}}],
)  # fmt: skip


def _contents() -> Iterator[Invalid]:
    def row(name: str, area: str, found: Record) -> Invalid:
        return Invalid(
            name, f"terminal:message:{area}", compact(found), "invalid_message", identity_of(found)
        )

    no_texts: tuple[Any, ...] = (1, None, True, [], {}, ["a"], [{"text": "a"}])
    no_contents: tuple[Any, ...] = (
        None, "text", [], {}, {"type": "text/plain"}, {"data": ""}, {"type": "", "data": ""},
        {"type": 1, "data": ""}, {"type": "text/plain", "data": "", "z": 1},
    )  # fmt: skip
    for kind in ("block.append", "block.update"):
        for data in no_texts:
            found = body(kind, content={"type": "text/plain", "data": data})
            yield row(f"{kind}: text/plain is {data!r}", "data", found)
        for value in no_contents:
            yield row(f"{kind}: content is {value!r}", "closed", body(kind, content=value))
    for data in (*_NO_SPANS, "a", {}, None):
        yield row(f"text/styled is {data!r}", "data", content("text/styled", data))
    for data in (*_NO_LINES, *_NO_SPANS[:6], "a", {}, None):
        yield row(f"text/lines is {data!r}", "data", content("text/lines", data))
    for kind, name in (("block.extend", "fragment"), ("block.replace_suffix", "replacement")):
        for value in (1, None, False, {}, *_NO_SPANS, *_NO_LINES[1:]):
            yield row(f"{name} is {value!r}", "fragment", body(kind, **{name: value}))
    for value in ("", []):
        yield row(f"fragment is {value!r}", "empty-fragment", body("block.extend", fragment=value))
