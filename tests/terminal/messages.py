"""Random messages: every kind, valid; and their JSON, changed in one place."""

from typing import Any, Final

from hypothesis import strategies as st

from blockwire.jsontext import Json, decode_json
from blockwire.terminal import WireMessage, decode_message
from vectors.terminal_codec_inputs import LINES, SPANS, compact, valid

TEXTS: Final = st.text(max_size=12)

# Members of every valid vector: what a random one starts from.
VALID: Final[list[Any]] = [decode_json(compact(row.message)) for row in valid()]

IDS: Final = st.text(min_size=1, max_size=6)
_STRINGS: Final = frozenset({"request_id", "operation_id", "context_id", "block_id", "base_operation_id"})  # fmt: skip


def members() -> st.SearchStrategy[Any]:
    """Return the JSON objects of valid messages, with random ids and texts."""
    return st.sampled_from(VALID).flatmap(_renewed)


def _renewed(value: Any) -> st.SearchStrategy[Any]:
    renewed: dict[str, Any] = {}
    for name, member in value.items():
        if name in _STRINGS:
            renewed[name] = IDS
        elif name in {"fragment", "replacement"} and isinstance(member, str):
            renewed[name] = st.text(min_size=1, max_size=12)
        elif name == "message":
            renewed[name] = TEXTS
        elif name == "retain":
            renewed[name] = st.integers(0, 2**53 - 1)
        else:
            renewed[name] = _renewed(member) if name == "body" else st.just(member)
    return st.fixed_dictionaries(renewed)


def messages() -> st.SearchStrategy[WireMessage]:
    """Return valid messages."""
    return members().map(lambda it: decode_message(compact(it)))


_STRAY: Final[st.SearchStrategy[Any]] = st.sampled_from(
    [
        None, True, False, 0, -1, 1, 2, 2**31, 2**53, 0.5, "", "a", "text/plain", "text/lines",
        "sealed", "opened", "error", "internal_error", "block_sealed", "block.seal", [], {},
        [""], ["x"], ["x", "x"], SPANS, LINES, [*SPANS, *LINES], [{"text": ""}], [{"spans": []}],
        {"outcome": "opened"}, {"outcome": "error", "error": {"code": "internal_error"}},
        {"type": "text/plain", "data": ""}, {"type": "z", "data": None},
    ]
)  # fmt: skip
_NAMES: Final = st.sampled_from(
    ["version", "kind", "body", "message", "outcome", "error", "code", "type", "data", "z", "Body",
     "optional_content_types", "style", "layout", "text", "spans", "attributes", *sorted(_STRINGS)]
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> Json:
    """Return the JSON object of a valid message, changed in a few places."""
    value = draw(members())
    for _ in range(draw(st.integers(1, 2))):
        value = _changed(draw, value)
    return value  # type: ignore[no-any-return]  # it is JSON


def _changed(draw: st.DrawFn, value: Any) -> Any:
    """Return ``value`` with a member changed, added or taken away, here or below."""
    if not value or not isinstance(value, dict | list):
        return draw(_STRAY)
    if draw(st.booleans()):
        place = draw(st.sampled_from([*value] if isinstance(value, dict) else range(len(value))))
        changed = {**value} if isinstance(value, dict) else [*value]
        changed[place] = _changed(draw, value[place])
        return changed
    if isinstance(value, list):
        return draw(st.sampled_from([value[1:], [*value, value[0]], draw(_STRAY)]))
    name = draw(st.sampled_from([*value]))
    rest = {key: it for key, it in value.items() if key != name}
    return draw(
        st.sampled_from(
            [rest, {**value, draw(_NAMES): draw(_STRAY)}, {**value, name: draw(_STRAY)}]
        )
    )
