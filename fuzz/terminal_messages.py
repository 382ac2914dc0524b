"""Messages of terminal blocks: damaged texts against a second reader, and against themselves."""

from __future__ import annotations

import json
import random
from math import isfinite
from typing import Any, Final

from blockwire.errors import LocalProtocolError
from blockwire.jsontext import Json, decode_json, encode_json
from blockwire.terminal import Identity, InvalidMessage, WireMessage, decode_message, encode_message
from blockwire.terminal.bounds import DEPTH_MAX
from blockwire.terminal.codec import SHORT_BYTES_MAX
from fuzz.chances import damaged, damaged_json, value
from vectors.terminal_codec_inputs import LINES, SPANS, compact, content, valid

__all__ = ["terminal_decode", "terminal_json"]

SEEDS: Final[tuple[bytes, ...]] = (
    *(compact(row.message) if row.text is None else row.text for row in valid()),
    compact(content("text/styled", SPANS * 20)),
    compact(content("text/lines", LINES * 10)),
)
# What the JSON of a text is to blame for; all else is a fault of the message.
JSON_CODES: Final = frozenset(
    {"invalid_unicode", "invalid_json", "duplicate_member", "nesting_too_deep",
     "number_out_of_range", "not_an_object"}
)  # fmt: skip


class _RefusedError(Exception):
    """The second reader says that a text is not what we read."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RefusedError("a name twice")
    return members


def _refuse(word: str) -> None:
    raise _RefusedError(word)


_SECOND: Final = json.JSONDecoder(object_pairs_hook=_distinct, parse_constant=_refuse)


def _check_tree(tree: Any, levels_left: int) -> None:
    if isinstance(tree, str):
        tree.encode()
    elif isinstance(tree, float) and not isfinite(tree):
        raise _RefusedError("a vast number")
    elif isinstance(tree, dict | list):
        if not levels_left:
            raise _RefusedError("too deep")
        for item in [*tree, *tree.values()] if isinstance(tree, dict) else tree:
            _check_tree(item, levels_left - 1)


def _second_reading(text: bytes) -> Any:
    """Return the object that the standard library finds, held to the rules of the page; or None."""
    try:
        tree = _SECOND.decode(text.decode())
        _check_tree(tree, DEPTH_MAX)
    except (ValueError, _RefusedError, RecursionError):
        return None
    return tree if isinstance(tree, dict) else None


def terminal_json(chance: random.Random) -> None:
    """A text is JSON for us if, and only if, it is that for the standard library held to our rules."""
    seed = (
        compact(content("image/none", value(chance)))
        if chance.random() < 0.5
        else chance.choice(SEEDS)
    )
    text = damaged(chance, seed, SEEDS)
    tree = _second_reading(text)
    found = _outcome(text)
    if not isinstance(found, tuple):
        assert tree is not None, f"no JSON, but read: {text!r}"
        return
    code, identity, _ = found
    assert (code in JSON_CODES) is (tree is None), f"{code}: {text!r}"
    assert identity is None or code in {"invalid_message", "number_out_of_range"}, f"{text!r}"


def _outcome(text: bytes) -> WireMessage | tuple[str, Identity | None, str | None]:
    try:
        return decode_message(text)
    except InvalidMessage as error:
        # The detail of what is no JSON names a column.
        return (error.code, error.identity, error.pointer)


def _changed(chance: random.Random) -> bytes:
    text = chance.choice(SEEDS)
    tree: Json = decode_json(text)
    for _ in range(chance.randint(0, 2)):
        tree = damaged_json(chance, tree)
    text = encode_json(tree)
    return damaged(chance, text) if chance.random() < 0.3 else text


def terminal_decode(chance: random.Random) -> None:
    """The quick way says what the long way says, and what is read is written and read again."""
    text = _changed(chance)
    found = _outcome(text)
    # With blanks around it no text goes the quick way.
    padded = _outcome(text + b" " * SHORT_BYTES_MAX)
    # Behind half a string they change which fault of its JSON comes first.
    is_no_json = isinstance(found, tuple) and found[0] in JSON_CODES and found[1] is None
    assert found == padded or is_no_json, f"two ways: {text!r}"
    if isinstance(found, tuple):
        return
    try:
        again = encode_message(found)
    except LocalProtocolError as error:
        raise AssertionError(f"read, but not written: {text!r}") from error
    assert decode_message(again) == found, f"another message: {text!r}"
