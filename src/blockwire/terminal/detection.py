"""Whether a terminal is worth asking, and for how long to wait for its answer.

Spec: docs/spec/terminal/application.md, "Asking". Nothing here says that Blocks are supported:
only an answer does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

__all__ = [
    "ANSWER_REMOTE_S",
    "ANSWER_S",
    "SWITCH",
    "NoQueryReason",
    "answer_s",
    "reason_not_to_ask",
]

ANSWER_S: Final = 1.0
"""How long the answer to a query may take."""

ANSWER_REMOTE_S: Final = 2.0
"""The same over ssh."""

SWITCH: Final = "BLOCKWIRE_TERMINAL"
"""An environment variable; ``0`` means: do not ask, use the fallback. It can mean nothing else."""

NoQueryReason: TypeAlias = Literal[
    "not_a_terminal", "terminal_without_answers", "switched_off", "in_background"
]

_DEAF: Final = frozenset({"", "dumb", "linux"})
"""Values of TERM of what prints a query, or does nothing with it."""


def reason_not_to_ask(
    environment: Mapping[str, str],
    *,
    is_input_terminal: bool,
    is_output_terminal: bool,
    is_foreground: bool = True,
) -> NoQueryReason | None:
    """Return why no query is to be written; None if one may be.

    Args:
        environment: The variables.
        is_input_terminal: Whether what is read comes from a terminal.
        is_output_terminal: Whether what is written goes to one.
        is_foreground: Whether it is ours to read; else the shell would read the answer.
    """
    if not (is_input_terminal and is_output_terminal):
        return "not_a_terminal"
    if environment.get("TERM", "") in _DEAF:
        return "terminal_without_answers"
    if environment.get(SWITCH) == "0":
        return "switched_off"
    return None if is_foreground else "in_background"


def answer_s(environment: Mapping[str, str]) -> float:
    """Return how long to wait for an answer, in seconds."""
    is_remote = environment.get("SSH_CONNECTION") or environment.get("SSH_TTY")
    return ANSWER_REMOTE_S if is_remote else ANSWER_S
