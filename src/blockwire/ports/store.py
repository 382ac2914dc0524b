"""Where conversations live: the log, messages, turns.

Spec: docs/spec/gateway/persistence.md.

*Durable before visible*: :meth:`Store.append` returns when its transaction is committed, and the
caller publishes only what it returned. A store decides no protocol question: it numbers, keeps
and gives back. The ports are shaped so that many replicas can share a store: ``seq`` is allocated
by the store inside the transaction, and a turn is owned by ``epoch``, which a store compares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from blockwire.content import Message, View
from blockwire.jsontext import Json
from blockwire.ports.access import AccessStore
from blockwire.ports.attachments import AttachmentStore
from blockwire.ports.forks import ForkStore
from blockwire.ports.imports import ImportStore
from blockwire.ports.retention import RetentionStore
from blockwire.ports.search import SearchStore

__all__ = [
    "Append",
    "Appended",
    "CheckProblem",
    "ConversationRow",
    "Draft",
    "Entry",
    "FramePage",
    "MessageRow",
    "Page",
    "Store",
    "TurnRow",
]

RowT = TypeVar("RowT")


class Draft(Struct, frozen=True, gc=False):
    """One event on its way into the log, encoded once, not numbered yet.

    Attributes:
        type: Event type, which becomes the SSE event name.
        owner: The owner's JSON object, compact, at least one member. The store adds the stamped
            members last and drops members of these names from the draft.
        public: The public view's JSON object; the same object as ``owner`` where nothing differs;
            None where the event is withheld.
        is_plain: The maker vouches that neither object has a stamped member or a line break, so
            that nobody has to look; true of the deltas that make up nearly all of a log.
    """

    type: str
    owner: bytes
    public: bytes | None
    is_plain: bool = False


class Entry(Struct, frozen=True, gc=False):
    """One committed event of the log.

    Attributes:
        seq: Its number in the conversation.
        type: Event type.
        owner_frame: SSE frame (``id``, ``event``, ``data``) for owner views.
        public_frame: The same for public views; None where the event is withheld.
    """

    seq: int
    type: str
    owner_frame: bytes
    public_frame: bytes | None


class ConversationRow(Struct, frozen=True, kw_only=True):
    """A conversation. Times are Unix milliseconds; ``head_seq`` is 0 while the log is empty.

    The store keeps ``head_seq``, ``public_head_seq`` (the last event that public views get) and,
    at each append, ``updated_at``, which never goes back. ``title`` is what a person gave it,
    ``auto_title`` what its first question begins with; ``totals`` are whole numbers by name, the
    sum of :attr:`Append.totals`.
    """

    id: str
    created_at: int
    updated_at: int
    head_seq: int = 0
    public_head_seq: int = 0
    title: str | None = None
    tags: tuple[str, ...] = ()
    tenant: str | None = None
    system: str | None = None
    metadata: dict[str, Json] | None = None
    auto_title: str | None = None
    totals: dict[str, int] = {}


class TurnRow(Struct, frozen=True, kw_only=True):
    """Queryable metadata of one turn.

    Attributes:
        id: Also that of its message.
        conversation_id: Where it belongs.
        status: Turn status; never ``queued``, which is not stored.
        created_at: When it was submitted, Unix milliseconds.
        started_at: When its engine started.
        completed_at: When it ended.
        engine: Configured name of the engine.
        model: As ``turn.started`` names it.
        provider: As ``turn.started`` names it.
        usage: Token counts, once it is over.
        finish_reason: Why the model stopped.
        reason: Why the turn did not complete.
        request_message_id: The user's message.
        first_seq: ``seq`` of its ``turn.started``; 0 lets the store fill it in.
        last_seq: ``seq`` of its latest event; 0 lets the store fill it in.
        idempotency_key: As sent by the client.
        body_hash: SHA-256 of the canonical submit body, hexadecimal.
        epoch: Fencing token of whoever may write; rises.
        producer_seq: The last line of an outside producer that is committed.
        error: ``{code, message, retryable}`` of the closing error block.
        request: What a suspended turn waits for.
        options: Engine options of the submit.
        retry_of: The turn whose question it asks again.
        cost: By currency, in billionths.
    """

    id: str
    conversation_id: str
    status: str
    engine: str
    created_at: int
    request_message_id: str
    started_at: int | None = None
    completed_at: int | None = None
    model: str | None = None
    provider: str | None = None
    usage: dict[str, Json] | None = None
    error: dict[str, Json] | None = None
    finish_reason: str | None = None
    reason: str | None = None
    first_seq: int = 0
    last_seq: int = 0
    idempotency_key: str | None = None
    body_hash: str | None = None
    epoch: int = 1
    producer_seq: int = 0
    request: dict[str, Json] | None = None
    options: dict[str, Json] | None = None
    retry_of: str | None = None
    cost: dict[str, Json] | None = None


class MessageRow(Struct, frozen=True):
    """A finished message.

    Attributes:
        message: Owner's JSON.
        created_seq: Place in the conversation: ``seq`` of ``message.created`` or ``turn.started``.
        finished_seq: ``seq`` at which it became final.
    """

    message: Message
    created_seq: int
    finished_seq: int


class Append(Struct, frozen=True, kw_only=True):
    """One atomic change of one conversation.

    Attributes:
        conversation_id: Must exist.
        drafts: Events to number, in order; may be empty.
        ts: The stamp of all of them, Unix milliseconds.
        turn: Row to insert or replace. Its zero ``first_seq`` becomes the seq of ``turn.started``
            in ``drafts``, else of the first of them; its zero ``last_seq`` that of the last (what
            is stored of ``first_seq`` is kept).
        new_turn: Insert: an existing id or idempotency key of the conversation is refused.
        finished: Messages that became final, each with the index in ``drafts`` of the event that
            created it (None: a turn's, placed at the turn's ``first_seq``).
        expected_epoch: Refuse unless the stored turn that ``turn`` replaces has this epoch
            (fencing).
        auto_title: Becomes that of the conversation unless it has one.
        totals: Added to those of the conversation, name by name.
        attachments: Ids that the drafts name, each with whether one that the public gets names it.
            The conversation holds those of its own tenant, from when both are there; others are
            of no use to it.
    """

    conversation_id: str
    drafts: Sequence[Draft]
    ts: int
    turn: TurnRow | None = None
    new_turn: bool = False
    finished: Sequence[tuple[Message, int | None]] = ()
    expected_epoch: int | None = None
    auto_title: str | None = None
    totals: Mapping[str, int] = MappingProxyType({})
    attachments: Sequence[tuple[str, bool]] = ()


class Appended(Struct, frozen=True):
    """What was committed: the entries, numbered and framed, and the turn row as stored."""

    entries: Sequence[Entry]
    turn: TurnRow | None


class FramePage(Struct, frozen=True):
    """A stretch of the log as it goes to a reader of one view.

    Attributes:
        frames: SSE frames joined, of the events after the cursor that the view gets.
        last_seq: The reader's cursor after them; it may, and at the end it does, lie behind events
            that are withheld.
        count: How many events ``frames`` holds.
        at_end: Whether the log held nothing more, up to ``up_to``, at that moment.
    """

    frames: bytes
    last_seq: int
    count: int
    at_end: bool


class Page(Struct, Generic[RowT], frozen=True):
    """One page of a list; ``next_cursor`` is None on the last."""

    items: Sequence[RowT]
    next_cursor: str | None


class CheckProblem(Struct, frozen=True):
    """Something that ``check`` found: where, a stable code, one sentence."""

    where: str
    code: str
    detail: str


class Store(
    AccessStore, AttachmentStore, ForkStore, ImportStore, RetentionStore, SearchStore, Protocol
):
    """Durable state. Every method is atomic; none may block the event loop.

    All raise StoreError: ``store_unavailable``, ``store_full``, ``store_readonly``,
    ``store_busy``, ``store_corrupt``, ``store_closed``. After ``store_full`` the store goes on,
    and works again when there is room.
    """

    async def open(self) -> None:
        """Take ownership, migrate, be ready. Raises ``store_locked`` when another owns it."""
        ...

    async def aclose(self) -> None:
        """Commit what is queued and let go. Harmless when repeated."""
        ...

    async def ping(self) -> None:
        """Return when the store can commit."""
        ...

    # conversations ------------------------------------------------------------------------
    async def create_conversation(self, row: ConversationRow) -> None:
        """Insert ``row``. Raises StoreError ``conversation_exists``."""
        ...

    async def load_conversation(self, conversation_id: str) -> ConversationRow | None:
        """Return the row, or None."""
        ...

    async def update_conversation(self, row: ConversationRow) -> ConversationRow | None:
        """Replace title, tags, system, metadata and updated_at.

        Returns the row as stored, or None where there is no such conversation.
        """
        ...

    async def list_conversations(
        self, *, tenant: str | None, cursor: str | None, limit: int
    ) -> Page[ConversationRow]:
        """Return conversations, newest first (``created_at``, then id), after an opaque cursor.

        ``tenant`` None lists those of all tenants. Raises StoreError ``invalid_cursor``.
        """
        ...

    async def delete_conversation(self, conversation_id: str) -> bool:
        """Remove every trace; return whether it existed."""
        ...

    # log ----------------------------------------------------------------------------------
    async def append(self, change: Append) -> Appended:
        """Commit ``change`` and return it numbered.

        Waits while the queue of the store is full. Appends that were called in some order are
        committed, and return, in that order. A caller that is cancelled while it waits does not
        know whether its change is committed; it is, or not, never in part.

        Raises StoreError: ``conversation_not_found``, ``turn_exists``, ``idempotency_key_exists``,
        ``epoch_fenced``, ``message_exists``, and ``turn_not_found`` for a finished message whose
        turn is not there. A refused change leaves nothing behind.
        """
        ...

    async def read_frames(
        self,
        conversation_id: str,
        after: int,
        *,
        view: View,
        bytes_max: int,
        up_to: int | None = None,
    ) -> FramePage:
        """Return frames after the cursor ``after``, none with a seq above ``up_to``.

        At least one event if there is one that the view gets, else at most ``bytes_max`` bytes.
        The log of an unknown or deleted conversation is empty. ``after`` may be ahead of the log;
        it then comes back as ``last_seq``.
        """
        ...

    # messages and turns -------------------------------------------------------------------
    async def list_messages(  # noqa: PLR0913 - a page has two ends and two sizes
        self,
        conversation_id: str,
        *,
        before_seq: int | None,
        after_seq: int | None,
        up_to_seq: int | None,
        limit: int,
        bytes_max: int,
    ) -> Sequence[MessageRow]:
        """Return finished messages by ``created_seq``.

        With ``before_seq`` (or neither) the newest ones before it, newest first; with
        ``after_seq`` the oldest ones after it, oldest first. ``up_to_seq`` leaves out what became
        final later. Stops at ``limit`` rows or ``bytes_max`` bytes of JSON, never before one row.
        """
        ...

    async def load_message(self, conversation_id: str, message_id: str) -> MessageRow | None:
        """Return the finished message, or None."""
        ...

    async def load_turn(self, conversation_id: str, turn_id: str) -> TurnRow | None:
        """Return the turn, or None."""
        ...

    async def find_turn_by_key(self, conversation_id: str, key: str) -> TurnRow | None:
        """Return the turn submitted with this idempotency key, or None."""
        ...

    async def list_turns(
        self, conversation_id: str, *, cursor: str | None, limit: int
    ) -> Page[TurnRow]:
        """Return turns, the one that was stored last first. Raises ``invalid_cursor``."""
        ...

    async def list_unfinished_turns(self) -> Sequence[TurnRow]:
        """Return all turns that are running or suspended, of all conversations."""
        ...

    async def check(self) -> Sequence[CheckProblem]:
        """Return what is wrong with the stored data: file, keys, numbers, messages against logs."""
        ...
