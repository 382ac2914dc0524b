"""What the person chose for the next question, what may be named, and how lists of it read.

Spec: docs/spec/chat/commands.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from blockwire.client import Conversation, SearchHit
from blockwire.content import Block
from blockwire.tui.commands import COMMANDS
from blockwire.tui.completion import Known
from blockwire.tui.keys import ChatAction

__all__ = ["Choices", "conversation_lines", "help_lines", "hit_lines"]


class Choices:
    """The settings of a chat, changed by commands.

    Args:
        engine: What is to answer; None is the gateway's default.
        model: Which model; None is the engine's default.
        with_reasoning: Whether reasoning is shown.

    Attributes:
        engine: As given, until ``/engine``.
        model: As given, until ``/model`` or ``/engine``.
        with_reasoning: As given, until ``/reasoning``.
        files: Blocks of the files that go with the next question.
        engines: All that the gateway has, the default first; empty until it said so.
        conversations: The newest ones, as listed last.
        listed_ids: What the numbers of the last list stand for.
        models: That were seen in this conversation.
        paths: What was found for ``paths_prefix``.
        paths_prefix: The beginning that was asked about last.
    """

    def __init__(
        self, *, engine: str | None = None, model: str | None = None, with_reasoning: bool = False
    ) -> None:
        self.engine = engine
        self.model = model
        self.with_reasoning = with_reasoning
        self.files: list[Block] = []
        self.engines: Sequence[str] = ()
        self.conversations: Sequence[Conversation] = ()
        self.listed_ids: Sequence[str] = ()
        self.models: Sequence[str] = ()
        self.paths: Sequence[str] = ()
        self.paths_prefix: str | None = None

    @property
    def known(self) -> Known:
        """What a completion may offer."""
        return Known(self.engines, self.models, self.conversations, self.paths, self.paths_prefix)

    @property
    def engine_shown(self) -> str:
        """The engine that the next question goes to; empty while nobody knows."""
        return self.engine or (self.engines[0] if self.engines else "")


_HELP_KEYS: Final[Mapping[ChatAction, str]] = MappingProxyType(
    {
        "submit": "send",
        "newline": "new line; so is \\ before Enter",
        "cancel": "stop the answer, and take back what waits",
        "interrupt": "stop the answer, or clear the input; twice: leave",
        "end-input": "leave, if nothing is typed",
        "up": "earlier inputs that begin like this one",
        "search-history": "search them",
        "complete": "complete a command",
        "undo": "undo",
        "yank": "put back what was cut",
        "suspend": "stop the program; fg continues it",
        "repaint": "draw everything again",
    }
)


def conversation_lines(conversations: Iterable[Conversation]) -> list[str]:
    """Return a numbered list of conversations, one a line."""
    return [
        f"{number:>3}  {conversation.title or '(no title)'}  {conversation.id}"
        for number, conversation in enumerate(conversations, 1)
    ]


def hit_lines(hits: Iterable[SearchHit]) -> list[str]:
    """Return a numbered list of what a search found, each with a line of its text."""
    lines: list[str] = []
    for number, hit in enumerate(hits, 1):
        text = " ".join(hit.snippet.text.split())
        before = "" if hit.snippet.at_start else "\u2026 "
        after = "" if hit.snippet.at_end else " \u2026"
        lines.append(f"{number:>3}  {hit.title or '(no title)'}  {hit.conversation_id}")
        lines.append(f"     {hit.role}: {before}{text}{after}")
    return lines


def help_lines(describe_keys: Callable[[str], str]) -> list[str]:
    """Return all commands and the keys that are worth knowing.

    Args:
        describe_keys: Returns the key of an action as people read it; empty if it has none.
    """
    names = [f"/{name} {command.usage}".rstrip() for name, command in COMMANDS.items()]
    longest = max(map(len, names))
    lines = [
        f"{name:<{longest}}  {command.summary}"
        for name, command in zip(names, COMMANDS.values(), strict=True)
    ]
    keys = [(describe_keys(action), summary) for action, summary in _HELP_KEYS.items()]
    return lines + [f"{key:<{longest}}  {summary}" for key, summary in keys if key]
