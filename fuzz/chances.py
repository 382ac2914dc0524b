"""Random input: text, JSON and bytes that look for trouble, and damage to what is valid."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from blockwire.jsontext import Json

__all__ = ["damaged", "damaged_json", "pieces", "text", "value"]

DAMAGES_MAX: Final = 6
DEPTH_MAX: Final = 4

_CHARACTERS: Final = (
    "abc XYZ019_-.:/\\\"'`*#|~<>&\t\r\n\x00\x07\x1b\x7f\x85\xa0\u00e9\u0301\u200b\u200d\u202e\u2028"
    "\u3042\u4e2d\uac00\ufeff\ufffd\ufe0f\U0001f600\U0001f468\U0001f3fd\U0010ffff"
)
_TOKENS: Final = (
    b"\x00", b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\n\n",
    b" ", b"{", b"}", b"[", b"]", b'"', b"\\", b"\\u0000", b"\\ud800", b"\\ud83d\\ude00", b",",
    b":", b"1e999", b"-0", b"9" * 40, b"NaN", b"null", b"true", b"[" * 70, b"data: ", b"id: ",
    b"event: ", b"retry: 9\n", b"\x1b]", b"\x1b\\", b'"id":"x",', b'"type":"prose",', b"\xe2\x80\xa8",
)  # fmt: skip
_KEYS: Final = (
    "id", "type", "text", "markdown", "block", "set", "status", "content", "role", "turn_id", "seq",
    "aB", "HTTPServer", "a-b", "a b", "_x", "__proto__", "constructor", "", "\u00e9", "x1", "A1B",
)  # fmt: skip


def text(chance: random.Random, chars_max: int = 40) -> str:
    """Return characters that are easily got wrong, no surrogates."""
    return "".join(chance.choices(_CHARACTERS, k=chance.randint(0, chars_max)))


def value(chance: random.Random, depth: int = 0) -> Json:
    """Return a JSON value, members named so that they matter."""
    kind = chance.randrange(6 if depth >= DEPTH_MAX else 9)
    scalars: list[Json] = [
        None, chance.random() < 0.5, chance.randint(-(2**70), 2**70), chance.uniform(-1e9, 1e9),
        text(chance), text(chance),
    ]  # fmt: skip
    if kind < len(scalars):
        return scalars[kind]
    count = chance.randint(0, 4)
    if kind == len(scalars):
        return [value(chance, depth + 1) for _ in range(count)]
    return {chance.choice(_KEYS): value(chance, depth + 1) for _ in range(count)}


def damaged(chance: random.Random, data: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Return ``data`` after a few random changes."""
    body = bytearray(data)
    for _ in range(chance.randint(1, DAMAGES_MAX)):
        start = chance.randint(0, len(body))
        end = min(start + chance.choice((0, 0, 1, 2, 5, 20)), len(body))
        donor = chance.choice((*others, data))
        at = chance.randint(0, len(donor))
        body[start:end] = chance.choice(
            (chance.choice(_TOKENS), donor[at : at + chance.randint(0, 40)], b"",
             chance.randbytes(chance.randint(1, 3)))
        )  # fmt: skip
    return bytes(body)


def damaged_json(chance: random.Random, source: Json) -> Json:
    """Return a value with one member or item changed, lost, renamed or doubled."""
    tree: Any = source
    if not isinstance(tree, dict | list) or not tree or chance.random() < 0.05:
        return value(chance)
    if isinstance(tree, list):
        items = list(tree)
        index = chance.randrange(len(items))
        items[index] = damaged_json(chance, items[index])
        return items
    members: dict[str, Any] = dict(tree)
    name = chance.choice(list(members))
    match chance.randrange(5):
        case 0:
            del members[name]
        case 1:
            members[chance.choice(_KEYS)] = members.pop(name)
        case 2:
            members[chance.choice(_KEYS)] = value(chance)
        case _:
            members[name] = damaged_json(chance, members[name])
    return members


def pieces(chance: random.Random, data: bytes) -> list[bytes]:
    """Return ``data`` cut anywhere, sometimes byte by byte."""
    if chance.random() < 0.2:
        return [data[at : at + 1] for at in range(len(data))]
    cuts = sorted(chance.choices(range(len(data) + 1), k=chance.randint(0, 6)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
