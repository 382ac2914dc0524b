"""What a terminal sends, as values: keys, the mouse, pastes, focus, and answers of the terminal.

Spec: docs/spec/host/input.md.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias, get_args

__all__ = [
    "MOUSE_KINDS",
    "REPLY_KINDS",
    "Focus",
    "InputEvent",
    "Key",
    "Mouse",
    "MouseKind",
    "Pasted",
    "Reply",
    "ReplyKind",
]

MouseKind: TypeAlias = Literal[
    "press", "release", "drag", "move", "wheel-up", "wheel-down", "wheel-left", "wheel-right"
]
ReplyKind: TypeAlias = Literal[
    "da1", "da2", "dsr", "cpr", "decrqm", "window-size", "kitty-flags", "osc", "dcs", "apc",
    "key-state", "oversized", "unknown",
]  # fmt: skip
MOUSE_KINDS: Final[tuple[MouseKind, ...]] = get_args(MouseKind)
REPLY_KINDS: Final[tuple[ReplyKind, ...]] = get_args(ReplyKind)


class Key(NamedTuple):
    """One key, pressed or repeated.

    Attributes:
        name: The same in every terminal: ``a``, ``A``, ``ctrl-c``, ``alt-x``, ``shift-page-up``.
        text: What it types, never a control character; empty if it types nothing.
        raw: What the terminal sent.
    """

    name: str
    text: str
    raw: bytes


class Mouse(NamedTuple):
    """The mouse did something.

    Attributes:
        kind: What.
        button: 1 left, 2 middle, 3 right, 8 to 11 further ones; 0 none, or not said.
        column: Counted from 0.
        row: Counted from 0.
        modifiers: Of ``ctrl``, ``alt``, ``shift``.
        raw: What the terminal sent.
    """

    kind: MouseKind
    button: int
    column: int
    row: int
    modifiers: frozenset[str]
    raw: bytes


class Pasted(NamedTuple):
    """A piece of a bracketed paste, without the brackets, as it came.

    Attributes:
        data: At most 65,536 bytes, not cleaned, and cut anywhere, also within a character.
        is_last: Whether the paste ends with it; the last piece may be empty.
    """

    data: bytes
    is_last: bool


class Focus(NamedTuple):
    """The terminal's window got the focus, or lost it."""

    is_in: bool


class Reply(NamedTuple):
    """What no key sends: an answer of the terminal, or something unknown. Never typed.

    Attributes:
        kind: What it answers.
        raw: All of it; of one that is ``oversized`` the beginning.
        fields: Its parameters as text, without the introducer and the final byte:
            ``("11", "rgb:0000/0000/0000")`` of an OSC, ``("12", "40")`` of a cursor position.
    """

    kind: ReplyKind
    raw: bytes
    fields: tuple[str, ...]


InputEvent: TypeAlias = Key | Mouse | Pasted | Focus | Reply
