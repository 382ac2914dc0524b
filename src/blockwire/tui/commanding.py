"""What each slash command does.

Spec: docs/spec/chat/commands.md. A command changes the choices, says something, or asks its driver
for something; the conversation itself it never touches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, cast

from blockwire.client import ExportFormat
from blockwire.content import Block, ConversationState, Message
from blockwire.errors import LocalProtocolError
from blockwire.render import message_text
from blockwire.tui.choices import Choices, help_lines
from blockwire.tui.commands import CommandName, ParsedCommand, nearest
from blockwire.tui.intents import (
    EXPORT_FORMATS,
    Attach,
    Copy,
    Export,
    Fork,
    Intent,
    ListConversations,
    NewConversation,
    Notice,
    OpenConversation,
    Quit,
    Search,
)

__all__ = ["CommandPlace", "run_command"]

CONVERSATIONS_LISTED: Final = 20

_FENCED: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)^ {0,3}\1", re.MULTILINE | re.DOTALL)
_SUFFIXES: Final[Mapping[str, ExportFormat]] = {
    "md": "markdown", "markdown": "markdown", "html": "html", "htm": "html", "txt": "text",
    "json": "json", "jsonl": "jsonl", "ndjson": "jsonl",
}  # fmt: skip


class CommandPlace(NamedTuple):
    """Where a command is given.

    Attributes:
        choices: Changed by it.
        say: Takes what is said to the person.
        conversation_id: None before the first question.
        state: Of the conversation, as far as it was read.
        describe_keys: Returns the key of an action as people read it; empty if it has none.
    """

    choices: Choices
    say: Callable[[Notice], None]
    conversation_id: str | None
    state: ConversationState | None
    describe_keys: Callable[[str], str]

    def named(self) -> str:
        """Return the conversation.

        Raises:
            LocalProtocolError: ``no_conversation``.
        """
        if self.conversation_id is None:
            raise LocalProtocolError("no_conversation", "there is no conversation yet")
        return self.conversation_id


def run_command(command: ParsedCommand, place: CommandPlace) -> list[Intent]:
    """Do what ``command`` does, and return what is left to the driver.

    Raises:
        LocalProtocolError: ``unusable_argument``, ``no_conversation``; nothing changed.
    """
    return _COMMANDS[command.name](command.argument, place)


def _unusable(detail: str) -> LocalProtocolError:
    return LocalProtocolError("unusable_argument", detail)


def _say(place: CommandPlace, text: str) -> list[Intent]:
    place.say(Notice("info", text))
    return []


# conversations --------------------------------------------------------------------------------
def _new(_argument: str, _place: CommandPlace) -> list[Intent]:
    return [NewConversation()]


def _open(argument: str, place: CommandPlace) -> list[Intent]:
    if not argument:
        return [ListConversations(CONVERSATIONS_LISTED)]
    if argument == "last":
        return [OpenConversation(None)]
    listed = place.choices.listed_ids
    if argument.isdecimal():
        if not 1 <= int(argument) <= len(listed):
            raise _unusable("no list has this number; /open lists conversations")
        return [OpenConversation(listed[int(argument) - 1])]
    wanted = argument.casefold()
    by_title = [
        conversation.id
        for conversation in place.choices.conversations
        if (conversation.title or "").casefold() == wanted
    ]
    return [OpenConversation(by_title[0] if len(by_title) == 1 else argument)]


def _fork(_argument: str, place: CommandPlace) -> list[Intent]:
    return [Fork(place.named())]


def _search(argument: str, _place: CommandPlace) -> list[Intent]:
    if not argument:
        raise _unusable("what is to be found? /search WORDS")
    return [Search(argument)]


def _export(argument: str, place: CommandPlace) -> list[Intent]:
    conversation_id = place.named()
    first, _, rest = argument.partition(" ")
    path = (rest if first in EXPORT_FORMATS else argument).strip()
    named = next((known for known in EXPORT_FORMATS if known == first), None)
    wanted = named or _SUFFIXES.get(path.rpartition(".")[2].lower())
    if wanted is None and path:
        raise _unusable(f"name a format before the file: {', '.join(EXPORT_FORMATS)}")
    return [Export(conversation_id, wanted or "markdown", path or None)]


# the next question ----------------------------------------------------------------------------
def _engine(argument: str, place: CommandPlace) -> list[Intent]:
    choices = place.choices
    if not argument:
        names = [
            f"{name} (answers now)" if name == choices.engine_shown else name
            for name in choices.engines
        ]
        return _say(place, f"engines: {', '.join(names) or 'not known yet'}")
    if choices.engines and argument not in choices.engines:
        known = nearest(argument, choices.engines)
        hint = f"did you mean {known}?" if known else f"there are {', '.join(choices.engines)}"
        raise _unusable(f"the gateway has no engine {argument}; {hint}")
    if argument != choices.engine_shown:
        # A model belongs to its engine.
        choices.model = None
    choices.engine = argument
    return _say(place, f"{argument} answers from the next question on")


def _model(argument: str, place: CommandPlace) -> list[Intent]:
    choices = place.choices
    if not argument:
        return _say(place, f"model: {choices.model or 'the default of the engine'}")
    choices.model = None if argument == "default" else argument
    return _say(place, f"model from the next question on: {argument}")


def _attach(argument: str, place: CommandPlace) -> list[Intent]:
    path = argument
    if len(path) > 1 and path[0] == path[-1] and path[0] in "'\"":
        path = path[1:-1]
    if not path:
        raise _unusable("which file? /attach FILE")
    return [Attach(place.conversation_id, path)]


# what is shown --------------------------------------------------------------------------------
def _reasoning(argument: str, place: CommandPlace) -> list[Intent]:
    choices = place.choices
    values = {"": not choices.with_reasoning, "on": True, "off": False}
    if argument.lower() not in values:
        raise _unusable("/reasoning takes on or off")
    choices.with_reasoning = values[argument.lower()]
    return _say(place, f"reasoning is {'shown' if choices.with_reasoning else 'hidden'}")


def _copy(argument: str, place: CommandPlace) -> list[Intent]:
    messages = [] if place.state is None else place.state.messages
    answers = [message for message in messages if message["role"] == "assistant"]
    if not answers:
        raise _unusable("there is no answer to copy yet")
    word = argument.lower()
    if word == "all":
        texts = [f"{message['role']}:\n{message_text(message)}" for message in messages]
        return [Copy("\n\n".join(texts), "the conversation")]
    if word == "code":
        code = _last_code(reversed(answers))
        if code is None:
            raise _unusable("no answer has code in it")
        return [Copy(code, "the last code")]
    number = int(word) if word.isdecimal() else 1 if not word else 0
    if not 1 <= number <= len(answers):
        raise _unusable(f"/copy takes code, all, or a number up to {len(answers)}; 1 is the last")
    what = "the last answer" if number == 1 else f"the answer {number} from the end"
    return [Copy(message_text(answers[-number]), what)]


def _last_code(messages: Iterable[Message]) -> str | None:
    for message in messages:
        for block in reversed(cast("list[Block]", message["content"])):
            if block["type"] == "code":
                return str(block["text"])
            if block["type"] == "prose":
                found = _FENCED.findall(str(block["markdown"]))
                if found:
                    return str(found[-1][1]).removesuffix("\n")
    return None


def _help(_argument: str, place: CommandPlace) -> list[Intent]:
    return _say(place, "\n".join(help_lines(place.describe_keys)))


def _quit(_argument: str, _place: CommandPlace) -> list[Intent]:
    return [Quit()]


_COMMANDS: Final[Mapping[CommandName, Callable[[str, CommandPlace], list[Intent]]]] = {
    "new": _new,
    "open": _open,
    "fork": _fork,
    "engine": _engine,
    "model": _model,
    "reasoning": _reasoning,
    "attach": _attach,
    "copy": _copy,
    "export": _export,
    "search": _search,
    "help": _help,
    "quit": _quit,
}
