"""The slash commands: which there are, what they take, and whether a text is one.

Spec: docs/spec/chat/commands.md.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from blockwire.errors import LocalProtocolError

__all__ = [
    "ALIASES",
    "COMMANDS",
    "Argument",
    "Command",
    "CommandName",
    "ParsedCommand",
    "nearest",
    "parse_command",
    "question_of",
]

CommandName: TypeAlias = Literal[
    "attach", "copy", "engine", "export", "fork", "help", "model", "new", "open", "quit",
    "reasoning", "search",
]  # fmt: skip

Argument: TypeAlias = Literal[
    "nothing", "conversation", "engine", "model", "switch", "path", "answer", "export", "words"
]


class Command(NamedTuple):
    """One command.

    Attributes:
        argument: What may follow its name.
        usage: How that is written in help; empty if nothing follows.
        summary: What it does, as one line.
    """

    argument: Argument
    usage: str
    summary: str


COMMANDS: Final[Mapping[CommandName, Command]] = MappingProxyType(
    {
        "new": Command("nothing", "", "begin a conversation"),
        "open": Command("conversation", "[ID | NUMBER | last]", "list conversations, or open one"),
        "fork": Command("nothing", "", "go on in a copy of this conversation"),
        "engine": Command("engine", "[NAME]", "show or choose what answers"),
        "model": Command("model", "[NAME | default]", "show or choose the model"),
        "reasoning": Command("switch", "[on | off]", "show reasoning, or hide it"),
        "attach": Command("path", "FILE", "send a file with the next question"),
        "copy": Command("answer", "[code | all | NUMBER]", "copy the last answer, or a part"),
        "export": Command("export", "[FORMAT] [FILE]", "write the conversation to a file"),
        "search": Command("words", "WORDS", "search all conversations"),
        "help": Command("nothing", "", "show commands and keys"),
        "quit": Command("nothing", "", "leave"),
    }
)
"""In the order in which help and completion show them."""

ALIASES: Final[Mapping[str, CommandName]] = MappingProxyType(
    {"exit": "quit", "q": "quit", "resume": "open", "find": "search", "clear": "new", "?": "help"}
)

# A path such as /usr/bin is no command, nor is a slash that somebody writes about.
_COMMAND: Final = re.compile(r"/([A-Za-z][A-Za-z-]*|\?)(?:[ \t\n]+(.*))?\s*\Z", re.DOTALL)


class ParsedCommand(NamedTuple):
    """A command as typed.

    Attributes:
        name: Which one.
        argument: What followed it, without blanks around.
    """

    name: CommandName
    argument: str


def parse_command(text: str) -> ParsedCommand | None:
    """Return the command that ``text`` is; None if it is a question.

    Raises:
        LocalProtocolError: ``unknown_command``; ``unexpected_argument``.
    """
    match = _COMMAND.match(text)
    if match is None:
        return None
    typed, argument = match[1].lower(), (match[2] or "").strip()
    name = _name_of(typed)
    if name is None:
        known = nearest(typed, [*COMMANDS, *ALIASES])
        hint = f"; did you mean /{known}?" if known is not None else "; /help lists them"
        raise LocalProtocolError("unknown_command", f"there is no /{typed}{hint}")
    if argument and COMMANDS[name].argument == "nothing":
        raise LocalProtocolError("unexpected_argument", f"/{name} takes nothing behind it")
    return ParsedCommand(name, argument)


def _name_of(typed: str) -> CommandName | None:
    for name in COMMANDS:
        if name == typed:
            return name
    return ALIASES.get(typed)


def question_of(text: str) -> str:
    """Return what ``text`` asks, if it is no command: ``//x`` asks ``/x``."""
    return text[1:] if text.startswith("//") else text


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return which of ``known`` was most likely meant by ``word``; None if none looks like it."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else None
