"""Random JSON values and texts, with what readers in other languages get wrong among them."""

from __future__ import annotations

import re
from random import Random
from typing import Any, Final

__all__ = ["blanks", "broken_text", "doubled", "mutated", "opaque", "phrase"]

_PHRASES: Final = (
    "",
    "a",
    "Six tests ",
    "\u516d",
    "\U0001f600",
    "e\u0301",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\x00",
    "\r\n",
    "**b**",
    "\u2028",
    '"\\/',
    "\ufeff",
    "\x85\x1f",
    "``` ",
    "\U000e0067",
)
_NUMBERS: Final[tuple[Any, ...]] = (
    0,
    -1,
    7,
    2**53 - 1,
    2**53,
    2**53 + 1,
    -(2**53) - 1,
    2**64,
    10**40 + 1,
    0.5,
    1.0,
    -0.0,
    1e16,
    1e21,
    123456789012345680.0,
    1e300,
    5e-324,
    1e-7,
    0.1,
)
_NAMES: Final = ("a", "b", "_x1", "__proto__", "constructor", "to_string", "status", "text", "id")
_BAD_NAMES: Final = ("aB", "", "1", "0", "\xe9", "a-b", "a b", "hasOwnProperty", "a/b~c", "a\n")
_CONTROL_NAMES: Final = ("a\nb", "a\x85", "\x7f", "\x00")
_BLANK_NAMES: Final = ("", " ", "\u3000", "\ufeff", "\u200b", "\x1c", "\u2003\xa0")
_LONG_NAMES: Final = ("n" * 256, "n" * 257, "\U0001f600" * 256, "\U0001f600" * 257)
_ODD_WORDS: Final = ("Completed", "completed", "running", "streaming", "queued", "Prose", "\xc9")


def phrase(rng: Random) -> str:
    """Return a piece of text; pairs that belong together may be cut between two of them."""
    return "".join(rng.choices(_PHRASES, k=rng.randint(0, 4)))


def blanks(rng: Random) -> str:
    """Return a text that is blank to some readers, and to others not."""
    return rng.choice(_BLANK_NAMES)


def opaque(rng: Random, levels: int = 3) -> Any:
    """Return a value as a tool or a provider may send it; its keys obey the rule."""
    kind = rng.randrange(8 if levels else 5)
    if kind < 2:
        return phrase(rng)
    if kind < 4:
        return rng.choice(_NUMBERS)
    if kind == 4:
        return rng.choice((None, True, False))
    if kind == 5:
        return [opaque(rng, levels - 1) for _ in range(rng.randint(0, 3))]
    names = rng.sample(_NAMES, k=rng.randint(0, 4))
    return {name: opaque(rng, levels - 1) for name in names}


def _replacement(rng: Random, value: Any) -> Any:
    """Return something that may stand where ``value`` stood, but perhaps not rightly."""
    choices: list[Any] = [
        opaque(rng),
        rng.choice(_ODD_WORDS),
        rng.choice(_BLANK_NAMES),
        rng.choice(_CONTROL_NAMES),
        rng.choice(_LONG_NAMES),
        rng.choice(_NUMBERS),
        [],
        {},
        None,
    ]
    if type(value) is int:
        choices += [float(value), value + 1, -value, True] * 2
    if isinstance(value, list) and value:
        choices += [[*value, value[0]], value[1:], [*value, None]] * 2
    return rng.choice(choices)


def mutated(rng: Random, value: Any) -> Any:
    """Return a copy of ``value`` with one fault, or what may be one, somewhere in it."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        return _mutated_object(rng, value)
    if isinstance(value, list) and value and rng.random() < 0.9:
        index = rng.randrange(len(value))
        return [mutated(rng, item) if at == index else item for at, item in enumerate(value)]
    return _replacement(rng, value)


def _mutated_object(rng: Random, value: dict[str, Any]) -> dict[str, Any]:
    name = rng.choice(list(value))
    kind = rng.randrange(10)
    if kind < 2:
        return {key: item for key, item in value.items() if key != name}
    if kind == 2:
        bad = {rng.choice(_BAD_NAMES): opaque(rng, 1)}
        return {**value, **bad} if rng.random() < 0.5 else {**bad, **value}
    if kind == 3:
        return {**value, rng.choice(_NAMES): opaque(rng)}
    if kind == 4:
        depth = rng.choice((50, 62, 63, 64, 65, 150, 199, 210))
        nested: Any = opaque(rng, 0)
        for level in range(depth):
            nested = {"a": nested} if level % 2 else [nested]
        return {**value, rng.choice(("x_deep", name)): nested}
    return {key: mutated(rng, item) if key == name else item for key, item in value.items()}


def doubled(rng: Random, value: Any) -> Any:
    """Return a copy of ``value`` with an item twice in one of its arrays, if it has any."""
    if isinstance(value, list) and value and rng.random() < 0.5:
        return [*value, rng.choice(value)]
    if isinstance(value, list):
        return [doubled(rng, item) for item in value]
    if isinstance(value, dict):
        return {name: doubled(rng, item) for name, item in value.items()}
    return value


_INSERTIONS: Final = (
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\\",
    "\\ud800",
    "\\ud83d\\ude00",
    "\\udc00",
    "\\u00",
    "\\u0000",
    "0",
    "-",
    ".",
    "e9",
    "1e999",
    "9" * 4301,
    " ",
    "\t",
    "\x0b",
    "\x01",
    "\ufeff",
    "null",
    "NaN",
    '"a":1,"a":2,',
    '"type":"x",',
    "1.0",
)


_NUMBER: Final = re.compile("[0-9]+")
_SPELLINGS: Final = (
    "1e999",
    "-1E+400",
    "9" * 4300,
    "9" * 4301,
    "1.0",
    "1e2",
    "-0",
    "-0.0",
    "01",
    "1e-400",
    "0.1e1",
)
_MEMBER: Final = re.compile(r'"[a-z_]+":')


def broken_text(rng: Random, text: str) -> str:
    """Return ``text`` cut, doubled or with something in it that does not belong there."""
    chance = rng.random()
    if chance < 0.25:
        return _replaced_once(rng, _NUMBER, text, rng.choice(_SPELLINGS))
    if chance < 0.35:
        member = rng.choice(_MEMBER.findall(text) or [""])
        return text.replace("{", f"{{{member}1,", 1)
    for _ in range(rng.randint(1, 2)):
        at = rng.randint(0, len(text))
        kind = rng.randrange(5)
        if kind == 0:
            text = text[:at]
        elif kind == 1:
            text = text[:at] + text[at + rng.randint(1, 3) :]
        else:
            text = text[:at] + rng.choice(_INSERTIONS) + text[at:]
    return text


def _replaced_once(rng: Random, pattern: re.Pattern[str], text: str, by: str) -> str:
    places = list(pattern.finditer(text))
    if not places:
        return text
    place = rng.choice(places)
    return text[: place.start()] + by + text[place.end() :]
