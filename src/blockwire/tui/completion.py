"""What a beginning of a command can go on with.

Spec: docs/spec/chat/commands.md, "Completion".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from blockwire.client import Conversation
from blockwire.tui.commands import COMMANDS, Argument
from blockwire.tui.intents import EXPORT_FORMATS

__all__ = ["Candidate", "Completion", "Known", "complete", "path_prefix"]

CANDIDATES_MAX: Final = 100

_NAME: Final = re.compile(r"/([A-Za-z]*)\Z")
_ARGUMENT: Final = re.compile(r"/([a-z]+)[ \t]+([^\n]*)\Z")


class Candidate(NamedTuple):
    """One way to go on.

    Attributes:
        text: Takes the place of the word.
        summary: What it is, as one line.
        goes_on: Whether something may follow, so that Enter does not send it.
    """

    text: str
    summary: str = ""
    goes_on: bool = False


class Completion(NamedTuple):
    """The ways to go on with one word.

    Attributes:
        word: What there is of it, before the cursor.
        candidates: At least one, the likeliest first.
        is_command: Whether they are names of commands: the first is taken by Enter.
    """

    word: str
    candidates: tuple[Candidate, ...]
    is_command: bool


class Known(NamedTuple):
    """What the chat knows of that may be named.

    Attributes:
        engines: Names of engines.
        models: Models that were seen in this conversation.
        conversations: The newest ones.
        paths: What was found for ``paths_prefix``.
        paths_prefix: The beginning of a path that was asked about last.
    """

    engines: Sequence[str] = ()
    models: Sequence[str] = ()
    conversations: Sequence[Conversation] = ()
    paths: Sequence[str] = ()
    paths_prefix: str | None = None


def complete(text: str, known: Known) -> Completion | None:
    """Return how ``text``, which stands before the cursor, can go on; None if it cannot."""
    if (match := _NAME.match(text)) is not None:
        typed = match[1].lower()
        found = tuple(
            Candidate(f"/{name}", command.summary, command.argument != "nothing")
            for name, command in COMMANDS.items()
            if name.startswith(typed)
        )
        return Completion(text, found, is_command=True) if found else None
    argument = _argument_of(text)
    if argument is None:
        return None
    kind, word = argument
    found = tuple(_candidates(kind, word, known))[:CANDIDATES_MAX]
    if not found or (len(found) == 1 and found[0].text == word):
        return None
    return Completion(word, found, is_command=False)


def path_prefix(text: str) -> str | None:
    """Return the beginning of a path that stands before the cursor; None if there is none."""
    argument = _argument_of(text)
    if argument is None:
        return None
    kind, word = argument
    if kind == "export":
        export_format, _, path = word.partition(" ")
        return path.lstrip() if export_format in EXPORT_FORMATS and path else None
    return word if kind == "path" else None


def _argument_of(text: str) -> tuple[Argument, str] | None:
    match = _ARGUMENT.match(text)
    if match is None:
        return None
    for name, command in COMMANDS.items():
        if name == match[1]:
            return command.argument, match[2]
    return None


def _candidates(kind: Argument, word: str, known: Known) -> list[Candidate]:
    names: Mapping[Argument, Sequence[str]] = {
        "engine": known.engines,
        "model": ("default", *known.models),
        "switch": ("on", "off"),
        "answer": ("code", "all"),
        "export": EXPORT_FORMATS,
    }
    if kind == "conversation":
        return _conversations(word, known.conversations)
    if kind == "path":
        return _paths(word, known, "")
    export_format, blank, path = word.partition(" ")
    if kind == "export" and blank and export_format in EXPORT_FORMATS:
        return _paths(path.lstrip(), known, f"{export_format} ")
    return _beginning(word, names.get(kind, ()))


def _beginning(word: str, names: Sequence[str]) -> list[Candidate]:
    return [Candidate(name) for name in names if name.lower().startswith(word.lower())]


def _conversations(word: str, conversations: Sequence[Conversation]) -> list[Candidate]:
    wanted = word.casefold()
    return [
        Candidate(conversation.id, conversation.title or "")
        for conversation in conversations
        if conversation.id.startswith(word) or wanted in (conversation.title or "").casefold()
    ]


def _paths(word: str, known: Known, before: str) -> list[Candidate]:
    # What was found for a shorter beginning still is all there is.
    if known.paths_prefix is None or not word.startswith(known.paths_prefix):
        return []
    return [
        Candidate(f"{before}{path}", goes_on=path.endswith("/"))
        for path in known.paths
        if path.startswith(word)
    ]
