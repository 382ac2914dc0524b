"""Hypothesis strategies: JSON values, blocks and messages that the protocol allows.

Spec: docs/spec/content/. Needs ``hypothesis``, which blockwire itself does not; so this module is
imported by its name, never by the room's front door. Whole turns are in
:mod:`blockwire.testing.scripts`.
"""

from __future__ import annotations

from typing import Final

from blockwire.content import NAME_CHARS_MAX, TIME_MAX, Block, Message
from blockwire.jsontext import Json
from blockwire.testing.needs import st

__all__ = [
    "BLOCK_TYPES",
    "blocks",
    "ids",
    "json_objects",
    "json_values",
    "keys",
    "messages",
    "names",
    "opaque_values",
    "texts",
    "times",
]

# Keys that mean something to a language, a prototype or a protocol, and are ordinary data here.
_KEYS: Final = ("__proto__", "constructor", "id", "type", "key", "value", "entries", "_", "a1_b")
# What has broken stores, terminals and counters of characters.
_TEXTS: Final = ("\x00", "\u0301", "👩🏽\u200d💻", "\u202e", "\r\n", "</script>", "\x1b]0;t\x07")
_BIG: Final = 10**30
_SAMPLES: Final[tuple[Json, ...]] = (
    None,
    False,
    0,
    -1,
    1.5,
    2**53,
    _BIG,
    "",
    "a\x00b",
    "\U0001f600",
    [],
    {},
    [[None]],
    {"__proto__": {"a": [1, "b"]}},
    {"path": "a/b", "count": 3},
)

BLOCK_TYPES: Final = (
    "prose",
    "code",
    "tool",
    "reasoning",
    "error",
    "attachment",
    "notice",
    "speech",
    "acme_chart",
)
"""Every type there is, and one that nobody knows."""


def texts(*, max_size: int = 12) -> st.SearchStrategy[str]:
    """Return text of Unicode scalar values, controls and U+0000 included."""
    return st.sampled_from(_TEXTS) | st.text(max_size=max_size)


def keys() -> st.SearchStrategy[str]:
    """Return keys that obey the key rule."""
    return st.sampled_from(_KEYS) | st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)


def names() -> st.SearchStrategy[str]:
    """Return names that people may be shown: no controls, at most 256 scalars."""
    visible = st.characters(exclude_categories=("Cc", "Cs"))
    some = st.sampled_from(("", " ", "ls", "Ada", "n" * NAME_CHARS_MAX))
    return some | st.text(visible, max_size=8)


def ids(prefix: str = "") -> st.SearchStrategy[str]:
    """Return ids that begin with ``prefix``: names with a visible character."""
    return names().map(lambda name: (prefix + name)[:NAME_CHARS_MAX]).filter(_is_visible)


def _is_visible(name: str) -> bool:
    return bool(name.strip())


def times() -> st.SearchStrategy[int]:
    """Return Unix milliseconds."""
    return st.integers(0, 2_000_000_000_000) | st.sampled_from((0, TIME_MAX))


def json_values(*, max_leaves: int = 6) -> st.SearchStrategy[Json]:
    """Return opaque JSON values that obey the key rule, integers of any size among them."""
    scalars: st.SearchStrategy[Json] = (
        st.none()
        | st.booleans()
        | st.integers(-_BIG, _BIG)
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts()
    )
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys(), inner, max_size=3),
        max_leaves=max_leaves,
    )


def json_objects() -> st.SearchStrategy[dict[str, Json]]:
    """Return JSON objects that obey the key rule."""
    return st.dictionaries(keys(), json_values(max_leaves=3), max_size=3)


def opaque_values() -> st.SearchStrategy[Json]:
    """Return opaque JSON values, mostly from a short list: quick to draw for members of blocks."""
    return st.sampled_from(_SAMPLES) | json_values(max_leaves=2)


def _codes() -> st.SearchStrategy[str]:
    return st.sampled_from(("a", "turn_failed", "x1", "c" * NAME_CHARS_MAX))


def _tool_members(status: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Json]]:
    return st.fixed_dictionaries(
        {"tool": names(), "status": status},
        optional={
            "input": opaque_values(),
            "output": opaque_values(),
            "error": opaque_values(),
            "input_json": texts(),
            "started_at": times(),
            "completed_at": times(),
            "attachments": st.lists(ids("att_"), max_size=2),
        },
    )


_ANY_TYPE: Final = st.sampled_from(BLOCK_TYPES)
_ANY_ROLE: Final = st.sampled_from(("user", "assistant", "system", "developer", "tool"))
_ANY_TOOL_STATUS: Final = st.sampled_from(
    ("pending", "running", "completed", "failed", "cancelled")
)


def _members(block_type: str) -> st.SearchStrategy[dict[str, Json]]:
    """Return the members of one type, beyond those that every block has."""
    optional: dict[str, st.SearchStrategy[Json]] = {}
    match block_type:
        case "prose":
            needed: dict[str, st.SearchStrategy[Json]] = {"markdown": texts()}
        case "code":
            needed, optional = {"text": texts()}, {"language": names()}
        case "tool":
            return _tool_members(_ANY_TOOL_STATUS)
        case "reasoning":
            needed = {"text": texts()}
            optional = {"visibility": st.sampled_from(("private", "visible"))}
        case "error":
            needed = {"code": _codes(), "message": texts()}
            optional = {"retryable": st.booleans()}
        case "attachment":
            needed = {"attachment_id": ids("att_"), "name": names(), "media_type": names()}
        case "notice":
            needed = {"code": _codes(), "message": texts()}
        case "speech":
            needed = {"text": texts().filter(lambda text: bool(text.strip()))}
        case _:
            return st.dictionaries(keys().filter(_is_free), opaque_values(), max_size=3)
    return st.fixed_dictionaries(needed, optional=optional)


def _is_free(name: str) -> bool:
    return name not in {"id", "type"}


@st.composite
def blocks(
    draw: st.DrawFn,
    *,
    block_type: st.SearchStrategy[str] = _ANY_TYPE,
    block_id: st.SearchStrategy[str] | None = None,
) -> Block:
    """Return a block as it may stand in a message, with unknown members and provider data."""
    kind = draw(block_type)
    block: Block = {"id": draw(ids() if block_id is None else block_id), "type": kind}
    block.update(draw(_members(kind)))
    if draw(st.booleans()):
        block["provider_data"] = draw(opaque_values())
    if draw(st.booleans()):
        block["x_unknown"] = draw(opaque_values())
    return block


@st.composite
def messages(
    draw: st.DrawFn,
    *,
    role: st.SearchStrategy[str] = _ANY_ROLE,
    message_id: st.SearchStrategy[str] | None = None,
) -> Message:
    """Return a complete message of a terminal status."""
    created_at = draw(st.integers(0, TIME_MAX))
    count = draw(st.integers(0, 3))
    message: Message = {
        "id": draw(ids("msg_") if message_id is None else message_id),
        "role": draw(role),
        "status": draw(st.sampled_from(("completed", "failed", "cancelled"))),
        "content": [draw(blocks(block_id=st.just(f"b{index}"))) for index in range(count)],
        "created_at": created_at,
    }
    optional: dict[str, st.SearchStrategy[Json]] = {
        "completed_at": st.integers(created_at, TIME_MAX),
        "model": names(),
        "provider": names(),
        "author": names(),
        "usage": json_objects(),
        "metadata": opaque_values(),
        "provider_data": opaque_values(),
        "x_unknown": opaque_values(),
    }
    for name in sorted(draw(st.sets(st.sampled_from(sorted(optional))))):
        message[name] = draw(optional[name])
    return message
