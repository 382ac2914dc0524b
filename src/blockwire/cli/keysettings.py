"""The keys of the two terminal programs: one table of the file, told apart by what an action is called.

Spec: docs/reference/configuration.md, "Keys and colours". Actions of the chat begin with ``chat.``;
all others are modes and actions of the host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from blockwire.cli.settings import Config
from blockwire.errors import LocalProtocolError
from blockwire.host.keymap import DEFAULT_KEYS, Keymap
from blockwire.tty import Bindings
from blockwire.tui.keys import CHAT_KEYS

__all__ = ["chat_bindings_of", "default_keys", "keymap_of"]

CHAT_PREFIX: Final = "chat."
assert "chat" not in DEFAULT_KEYS, "no mode of the host is called as the chat is"

T = TypeVar("T")


def default_keys() -> dict[str, tuple[str, ...]]:
    """Return each action that ``[keys]`` may name, and its keys if it does not."""
    of_host = {
        f"{mode}.{action}": keys
        for mode, actions in DEFAULT_KEYS.items()
        for action, keys in actions.items()
    }
    return of_host | {f"{CHAT_PREFIX}{action}": keys for action, keys in CHAT_KEYS.items()}


def keymap_of(config: Config) -> Keymap:
    """Return what keys do in the host.

    Raises:
        LocalProtocolError: ``invalid_config``, naming the file and the action.
    """
    given = {name: keys for name, keys in config.keys.items() if not name.startswith(CHAT_PREFIX)}
    return _made(config, "", Keymap, given)


def chat_bindings_of(config: Config) -> Bindings:
    """Return what keys do in the chat; raises as :func:`keymap_of`."""
    given = {
        name.removeprefix(CHAT_PREFIX): keys
        for name, keys in config.keys.items()
        if name.startswith(CHAT_PREFIX)
    }
    return _made(config, CHAT_PREFIX, lambda keys: Bindings(CHAT_KEYS, keys), given)


def _made(
    config: Config,
    prefix: str,
    make: Callable[[Mapping[str, Sequence[str]]], T],
    given: Mapping[str, Sequence[str]],
) -> T:
    try:
        return make(given)
    except LocalProtocolError as error:
        at = (error.pointer or "").removeprefix("/")
        raise LocalProtocolError(
            "invalid_config", f"{config.path}: [keys] {prefix}{at}: {error.detail}"
        ) from None
