"""What a host has to do, in the order of the stream.

Spec: docs/spec/terminal/operations.md. Views of Blocks are live: an effect says what changed, and
its Block what is true after everything that was received.

``gc=False``, here and for Blocks: nothing that they hold leads back to them, and a hundred thousand
of them are not worth a visit of the cycle collector each time.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from blockwire.terminal.content import Data
from blockwire.terminal.contexts import BlockView
from blockwire.terminal.messages import Identity, ToApplication


class PassThrough(Struct, frozen=True, gc=False):
    """Bytes that are none of ours, for the screen as they are.

    Attributes:
        offset: Of the first of them in the stream.
    """

    data: bytes
    offset: int


class Answer(Struct, frozen=True, gc=False):
    """The session has something to say."""

    message: ToApplication


class Reply(Struct, frozen=True, gc=False):
    """Bytes to write to the application's input, at once and in order.

    Attributes:
        data: ``message`` in frames.
    """

    message: ToApplication
    data: bytes


class BlockAppended(Struct, frozen=True, gc=False):
    """A new Block stands at the tail of the history."""

    block: BlockView
    operation_id: str


class BlockUpdated(Struct, frozen=True, gc=False):
    """A Block has other content, perhaps of another type."""

    block: BlockView
    operation_id: str


class BlockExtended(Struct, frozen=True, gc=False):
    """A Block has more at its logical end.

    Attributes:
        start: Scalars that it had before.
    """

    block: BlockView
    operation_id: str
    start: int
    fragment: Data


class BlockSuffixReplaced(Struct, frozen=True, gc=False):
    """Behind the first ``retain`` scalars a Block has something else."""

    block: BlockView
    operation_id: str
    retain: int
    replacement: Data


class BlockSealed(Struct, frozen=True, gc=False):
    """A Block will not change any more; its content did not.

    Attributes:
        operation_id: None if its Context was closed.
    """

    block: BlockView
    operation_id: str | None


class ContextOpened(Struct, frozen=True, gc=False):
    """A Context takes operations from now on."""

    context_id: str


class ContextClosed(Struct, frozen=True, gc=False):
    """It takes no more; its Blocks are sealed and stay."""

    context_id: str


class ContextInvalidated(Struct, frozen=True, gc=False):
    """It takes no more; its Blocks are what they were."""

    context_id: str


class Diagnostic(Struct, frozen=True, gc=False):
    """Something arrived that was no good, or a part of the host failed; for a log.

    Attributes:
        code: Local; never sent.
        detail: For people, without content.
        offset: Of the first byte concerned, in the stream.
        identity: What could be answered, if anything.
    """

    code: str
    detail: str
    offset: int
    identity: Identity | None = None


class Stopped(Struct, frozen=True, gc=False):
    """The session cannot go on: from here all bytes pass through, and nothing is answered."""


Change: TypeAlias = (
    Answer
    | BlockAppended
    | BlockUpdated
    | BlockExtended
    | BlockSuffixReplaced
    | BlockSealed
    | ContextOpened
    | ContextClosed
    | ContextInvalidated
)
"""What a session did."""

Effect: TypeAlias = (
    PassThrough
    | Reply
    | BlockAppended
    | BlockUpdated
    | BlockExtended
    | BlockSuffixReplaced
    | BlockSealed
    | ContextOpened
    | ContextClosed
    | ContextInvalidated
    | Diagnostic
    | Stopped
)
"""What an endpoint wants done."""
