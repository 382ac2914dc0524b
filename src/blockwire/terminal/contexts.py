"""What a connection has: Contexts, their Blocks, the ids that are used up, and the sums of it all.

Spec: docs/spec/terminal/contexts.md. Only the session writes here; a host sees the views.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct, field

from blockwire.terminal.content import Content, ContentType
from blockwire.terminal.limits import Limits
from blockwire.terminal.messages import Request, Response
from blockwire.terminal.vocabulary import ContextState, Lifecycle


class BlockView(Protocol):
    """A Block as a host may see it: live, read-only, and the same object for its whole life."""

    @property
    def context_id(self) -> str:
        """Whose it is."""

    @property
    def block_id(self) -> str:
        """Unique in its Context."""

    @property
    def content_type(self) -> str:
        """The type of its content."""

    @property
    def content(self) -> Content | None:
        """What it holds now; another object after an update, None once it was evicted."""

    @property
    def content_state(self) -> str:
        """The id of the operation that changed its content last."""

    @property
    def lifecycle(self) -> Lifecycle:
        """Whether it may still change."""

    @property
    def is_evicted(self) -> bool:
        """Whether the host has trimmed it."""


class ContextView(Protocol):
    """A Context as a host may see it: live and read-only."""

    @property
    def context_id(self) -> str:
        """Unique on the connection, for ever."""

    @property
    def state(self) -> ContextState:
        """Whether it takes operations, or why not."""

    @property
    def blocks(self) -> Mapping[str, BlockView]:
        """Its Blocks by their ids, in the order of their appends."""


class Block(Struct, eq=False, gc=False):
    """The record behind a :class:`BlockView`."""

    context_id: str
    block_id: str
    content_type: str
    content: Content | None
    content_state: str
    lifecycle: Lifecycle

    @property
    def is_evicted(self) -> bool:
        """Whether its content is gone."""
        return self.content is None


class Context(Struct, eq=False):
    """The record behind a :class:`ContextView`.

    Attributes:
        operation_ids: Used up, by success or rejection; empty once no operation can be taken.
        id_chars: Scalars of its operation and Block ids; once it is not open, of what its Blocks
            keep of them.
        cost_bytes: Of its Blocks that are not evicted.
        is_full: Whether an id could not be recorded; then none is any more.
    """

    context_id: str
    state: ContextState = "open"
    blocks: dict[str, Block] = field(default_factory=dict)
    operation_ids: set[str] = field(default_factory=set)
    id_chars: int = 0
    cost_bytes: int = 0
    is_full: bool = False


class StoredRequest(Struct, frozen=True, gc=False):
    """A request id that is taken.

    Attributes:
        request: What is answered with ``response`` again; None if it was invalid, so that nothing
            equals it.
        response: The outcome, if the request was valid.
    """

    request: Request | None = None
    response: Response | None = None


class Ledger(Struct, eq=False, kw_only=True):
    """Everything a session knows.

    Attributes:
        content_types: Those on offer.
        request_id_chars: Scalars of the ids in ``requests``, those of Contexts too.
        open_count: Contexts that are open.
        operation_id_count: Operation ids of all of them.
        id_chars: Those of all Contexts together.
        block_count: Blocks of all Contexts that are on record.
        cost_bytes: Of all Blocks that are not evicted.
        revision: Grows with every change; what was prepared before is stale.
    """

    limits: Limits
    content_types: Mapping[str, ContentType]
    contexts: dict[str, Context] = field(default_factory=dict)
    requests: dict[str, StoredRequest] = field(default_factory=dict)
    request_id_chars: int = 0
    open_count: int = 0
    operation_id_count: int = 0
    id_chars: int = 0
    block_count: int = 0
    cost_bytes: int = 0
    revision: int = 0

    def can_record(self, context: Context, operation_id: str) -> bool:
        """Return whether one more operation id can be kept for good."""
        limits = self.limits
        return (
            len(operation_id) <= limits.id_chars_max
            and not context.is_full
            and len(context.operation_ids) < limits.operation_ids_max
            and context.id_chars < limits.context_id_chars_max
            and self.id_chars < limits.connection_id_chars_max
            and self.operation_id_count < limits.connection_operation_ids_max
        )

    def record(self, context: Context, operation_id: str) -> None:
        """Use an operation id of an open Context up, if that is not done yet."""
        if operation_id in context.operation_ids or len(operation_id) > self.limits.id_chars_max:
            return  # the too long one is refused each time for its length
        if not self.can_record(context, operation_id):
            context.is_full = True
            return
        self.add_operation_id(context, operation_id)

    def add_operation_id(self, context: Context, operation_id: str) -> None:
        """Use an operation id up that is new and can be recorded."""
        context.operation_ids.add(operation_id)
        self.operation_id_count += 1
        self.count_id(context, len(operation_id))

    def count_id(self, context: Context, chars: int) -> None:
        """Add the scalars of an id to the sums; a negative number takes them away."""
        context.id_chars += chars
        self.id_chars += chars

    def count(self, context: Context, cost_bytes: int) -> None:
        """Add to the sums; a negative cost takes away."""
        context.cost_bytes += cost_bytes
        self.cost_bytes += cost_bytes

    def leave_open(self, context: Context, state: ContextState) -> None:
        """End the authority of an open Context; its operation ids are never asked for again."""
        context.state = state
        self.open_count -= 1
        self.operation_id_count -= len(context.operation_ids)
        context.operation_ids = set()
        kept_chars = sum(map(_id_chars, context.blocks.values()))
        self.count_id(context, kept_chars - context.id_chars)
        for block in [block for block in context.blocks.values() if block.content is None]:
            self.forget(context, block)

    def forget(self, context: Context, block: Block) -> None:
        """Drop the record of an evicted Block of a Context that is not open any more."""
        del context.blocks[block.block_id]
        self.block_count -= 1
        self.count_id(context, -_id_chars(block))


def _id_chars(block: Block) -> int:
    """Return the scalars of the ids that the record of a Block keeps."""
    return len(block.block_id) + len(block.content_state)
