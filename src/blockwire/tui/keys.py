"""What the keys of the chat do, by default.

Spec: docs/spec/chat/input.md, "Keys". One table for all that a key can do here; the editor and the
chat look actions up by name, so a key that is bound anew works everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

from blockwire.tui.draftmoves import Move

__all__ = [
    "CHAT_ACTIONS",
    "CHAT_KEYS",
    "EDIT_ACTIONS",
    "ChatAction",
    "EditAction",
    "KeyLookup",
    "default_action",
]

_Changes: TypeAlias = Literal[
    "up", "down", "history-older", "history-newer",
    "newline", "delete-left", "delete-right",
    "kill-word-left", "kill-blank-word-left", "kill-word-right", "kill-line-start", "kill-line-end",
    "yank", "yank-older", "undo", "redo", "transpose", "upper-word", "lower-word", "capital-word",
]  # fmt: skip
_Doings: TypeAlias = Literal[
    "submit", "cancel", "interrupt", "end-input", "complete", "complete-back", "search-history",
    "abort", "repaint", "suspend", "help",
]  # fmt: skip
EditAction: TypeAlias = Move | _Changes
ChatAction: TypeAlias = EditAction | _Doings

KeyLookup: TypeAlias = Callable[[str], str | None]
"""Returns the action that a key name is bound to; ``tty.Bindings.lookup`` is one."""

CHAT_KEYS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "submit": ("enter",),
        "newline": ("alt-enter", "ctrl-j", "shift-enter", "ctrl-enter"),
        "cancel": ("escape",),
        "interrupt": ("ctrl-c",),
        "end-input": ("ctrl-d",),
        "complete": ("tab",),
        "complete-back": ("shift-tab",),
        "search-history": ("ctrl-r",),
        "abort": ("ctrl-g",),
        "repaint": ("ctrl-l",),
        "suspend": ("ctrl-z",),
        "help": ("f1",),
        # moving
        "left": ("left", "ctrl-b"),
        "right": ("right", "ctrl-f"),
        "word-left": ("alt-b", "ctrl-left", "alt-left"),
        "word-right": ("alt-f", "ctrl-right", "alt-right"),
        "line-start": ("home", "ctrl-a"),
        "line-end": ("end", "ctrl-e"),
        "text-start": ("alt-<", "ctrl-home"),
        "text-end": ("alt->", "ctrl-end"),
        "up": ("up",),
        "down": ("down",),
        "history-older": ("ctrl-p", "alt-up"),
        "history-newer": ("ctrl-n", "alt-down"),
        # changing
        "delete-left": ("backspace", "ctrl-h", "shift-backspace"),
        "delete-right": ("delete",),
        "kill-word-left": ("alt-backspace", "ctrl-backspace"),
        "kill-blank-word-left": ("ctrl-w",),
        "kill-word-right": ("alt-d", "ctrl-delete", "alt-delete"),
        "kill-line-start": ("ctrl-u",),
        "kill-line-end": ("ctrl-k",),
        "yank": ("ctrl-y",),
        "yank-older": ("alt-y",),
        "undo": ("ctrl-_",),
        "redo": ("alt-_", "alt-/"),
        "transpose": ("ctrl-t",),
        "upper-word": ("alt-u",),
        "lower-word": ("alt-l",),
        "capital-word": ("alt-c",),
    }
)
"""Each :data:`ChatAction` and the names of its keys; the first is the one that help shows."""

_DEFAULTS: Final[Mapping[str, str]] = MappingProxyType(
    {name: action for action, names in CHAT_KEYS.items() for name in names}
)

EDIT_ACTIONS: Final[frozenset[str]] = frozenset((*get_args(Move), *get_args(_Changes)))
CHAT_ACTIONS: Final[frozenset[str]] = EDIT_ACTIONS | frozenset(get_args(_Doings))


def default_action(key_name: str) -> str | None:
    """Return what ``key_name`` does where nobody bound it otherwise; None for nothing."""
    return _DEFAULTS.get(key_name)
