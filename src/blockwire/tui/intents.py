"""What the chat wants done, and what its driver tells it about that.

Spec: docs/spec/chat/index.md, "Intents".

:class:`~blockwire.tui.chat.Chat` performs nothing. It returns intents, in order, and its driver
answers each one that names an answer below by the method of the same row:

==================  ===========================  ===============================================
intent              when it worked               what the driver does
==================  ===========================  ===============================================
Submit              ``submitted(intent, turn)``  create a conversation where none is named
                                                 (``opened`` first), then ``client.submit``
Cancel              ``cancelled(intent, turn)``  ``client.cancel``
CheckTurn           ``checked(intent, turn)``    ``client.read_turn``
AnswerRequest       ``answered(intent)``         ``client.resume``
OpenConversation    ``opened(conversation)``     read the conversation, watch it from a snapshot
NewConversation     nothing                      watch nothing; the next submit creates one
Fork                ``opened(conversation)``     ``client.fork``, then as OpenConversation
ListConversations   ``listed(conversations)``    the newest of ``client.list_conversations``
ListPaths           ``listed_paths(intent, ..)`` names in a folder that begin like this
Attach              ``attached(intent, block)``  upload (``opened`` first where none is named)
Copy, Export        ``told(intent, sentence)``   clipboard; ``client.export_conversation``
Search              ``found(intent, page)``      ``client.search_page``
RememberInput       nothing                      append to the history file
Notify              nothing                      bell, or OSC 9, if the user asked for it
Repaint, Suspend    nothing                      the terminal
Quit                nothing                      leave
==================  ===========================  ===============================================

Whatever fails is told by ``failed(intent, error)``, once, whichever intent it was.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

from blockwire.client import ExportFormat
from blockwire.content import Block
from blockwire.jsontext import Json

__all__ = [
    "EXPORT_FORMATS",
    "AnswerRequest",
    "Answerable",
    "Attach",
    "Cancel",
    "CheckTurn",
    "Copy",
    "Export",
    "Fork",
    "Intent",
    "ListConversations",
    "ListPaths",
    "NewConversation",
    "Notice",
    "NoticeKind",
    "Notify",
    "OpenConversation",
    "Quit",
    "RememberInput",
    "Repaint",
    "Search",
    "Submit",
    "Suspend",
]

EXPORT_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)

NoticeKind = Literal["info", "warning", "error"]


class Notice(NamedTuple):
    """What the chat says to the person, once; it stands in the history behind what came before.

    Attributes:
        kind: How much it matters.
        text: One or more lines, joined by LF; controls are not yet labelled.
    """

    kind: NoticeKind
    text: str


class Submit(NamedTuple):
    """Ask a question. At most one is on its way at a time, so that they keep their order.

    Attributes:
        key: Idempotency key; the same question that is sent again has the same.
        conversation_id: Where; None creates a conversation.
        content: Text, or blocks where files go with it.
        engine: What is to answer; None is the gateway's default.
        model: Which model; None is the engine's default.
    """

    key: str
    conversation_id: str | None
    content: str | tuple[Block, ...]
    engine: str | None
    model: str | None


class Cancel(NamedTuple):
    """End a turn, or take it out of the line."""

    conversation_id: str
    turn_id: str


class CheckTurn(NamedTuple):
    """Find out what became of a turn that waited in line while the gateway was out of reach."""

    conversation_id: str
    turn_id: str


class AnswerRequest(NamedTuple):
    """Answer what a suspended turn asks."""

    conversation_id: str
    turn_id: str
    request_id: str
    answer: Json


class OpenConversation(NamedTuple):
    """Show another conversation; None opens the newest."""

    conversation_id: str | None


class NewConversation(NamedTuple):
    """Show no conversation; the next question begins one."""


class Fork(NamedTuple):
    """Make a conversation that begins like this one, and show that."""

    conversation_id: str


class ListConversations(NamedTuple):
    """Get the newest conversations, ``limit`` at most."""

    limit: int


class ListPaths(NamedTuple):
    """Get the paths that begin with ``prefix``; folders end in a slash."""

    prefix: str


class Attach(NamedTuple):
    """Upload the file at ``path``, as typed (``~`` is not expanded yet).

    Attributes:
        conversation_id: Where it belongs; None creates a conversation.
        path: The file.
    """

    conversation_id: str | None
    path: str


class Copy(NamedTuple):
    """Put ``text`` on the clipboard; ``what`` names it in a sentence."""

    text: str
    what: str


class Export(NamedTuple):
    """Write the conversation to a file; without a path the driver finds a name that is free."""

    conversation_id: str
    format: ExportFormat
    path: str | None


class Search(NamedTuple):
    """Search all conversations."""

    query: str


class RememberInput(NamedTuple):
    """Keep ``text`` in the history of the next start, too."""

    text: str


class Notify(NamedTuple):
    """The person looks elsewhere, and something waits for them."""

    text: str


class Repaint(NamedTuple):
    """Draw everything again (Ctrl-L)."""


class Suspend(NamedTuple):
    """Stop the program until the shell continues it (Ctrl-Z)."""


class Quit(NamedTuple):
    """Leave."""


Answerable: TypeAlias = (
    Submit
    | Cancel
    | CheckTurn
    | AnswerRequest
    | OpenConversation
    | Fork
    | ListConversations
    | ListPaths
    | Attach
    | Copy
    | Export
    | Search
)
"""Intents that the driver answers, by the method above or by ``failed``."""

Intent: TypeAlias = Answerable | NewConversation | RememberInput | Notify | Repaint | Suspend | Quit
