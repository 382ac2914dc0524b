"""The twelve messages: closed at every level, immutable, with exclusive tagged bodies.

Spec: docs/spec/terminal/messages.md. Envelope and bodies are the tables of
:mod:`blockwire.terminal.vocabulary` written as types; a test holds them together. What a type
cannot say (the base of a state, a code on the wrong path) is said by the codec and the session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from blockwire.terminal.bounds import INT32_MAX, SCALAR_COUNT_MAX
from blockwire.terminal.vocabulary import ControlErrorCode, Lifecycle, OperationErrorCode

Id: TypeAlias = Annotated[str, Meta(min_length=1)]
"""Compared exactly: never normalised, folded or trimmed."""
Version: TypeAlias = Annotated[int, Meta(ge=1, le=INT32_MAX)]
ScalarCount: TypeAlias = Annotated[int, Meta(ge=0, le=SCALAR_COUNT_MAX)]

if TYPE_CHECKING:
    from blockwire.jsontext import Json
    from blockwire.terminal.content import Line, Span

    Fragment: TypeAlias = str | tuple[Span, ...] | tuple[Line, ...]
    SnapshotData: TypeAlias = str | tuple[Span, ...] | tuple[Line, ...] | Json
else:
    # msgspec takes no union of two kinds of lists: it reads the JSON, and the codec goes on.
    Fragment = str | list[Any]
    SnapshotData = Any


class _Closed(Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing but the members that are named."""


# No member has a default: what the wire leaves out must not be filled in.


class Empty(_Closed, frozen=True, kw_only=True):
    """A body without members."""


EMPTY: Final = Empty()


class ContentSnapshot(_Closed, frozen=True, kw_only=True):
    """A complete content value.

    Attributes:
        type: A content type; known or not.
        data: What the type defines: ``str`` for ``text/plain``, a tuple of :class:`Span` for
            ``text/styled``, of :class:`Line` for ``text/lines``; of a type that is not advertised
            the JSON as it came.
    """

    type: Id
    data: SnapshotData


class ControlFailure(_Closed, frozen=True, kw_only=True):
    """Why a request failed; ``message`` is for people and may be empty."""

    code: ControlErrorCode
    message: str | UnsetType = UNSET


# bodies -----------------------------------------------------------------------------------
class Supported(_Closed, frozen=True, kw_only=True, tag_field="outcome", tag="supported"):
    """The whole baseline, and these optional content types."""

    optional_content_types: tuple[Id, ...]


class Unsupported(_Closed, frozen=True, kw_only=True, tag_field="outcome", tag="unsupported"):
    """Not this version."""


class Failed(_Closed, frozen=True, kw_only=True, tag_field="outcome", tag="error"):
    """The request failed and changed nothing."""

    error: ControlFailure


class Opened(_Closed, frozen=True, kw_only=True, tag_field="outcome", tag="opened"):
    """A Context has come into being; its id is in the envelope."""


class Closed(_Closed, frozen=True, kw_only=True, tag_field="outcome", tag="closed"):
    """All earlier operations are done, and what was mutable is sealed."""


class AppendBody(_Closed, frozen=True, kw_only=True):
    """A new Block at the tail."""

    block_id: Id
    lifecycle: Lifecycle
    content: ContentSnapshot


class UpdateBody(_Closed, frozen=True, kw_only=True):
    """A new content value, also of another type, for a Block."""

    block_id: Id
    content: ContentSnapshot


class ExtendBody(_Closed, frozen=True, kw_only=True):
    """More at the logical tail of the content state that is named.

    Attributes:
        fragment: Text, spans or lines, at least one scalar or element.
    """

    block_id: Id
    base_operation_id: Id
    fragment: Fragment


class ReplaceSuffixBody(_Closed, frozen=True, kw_only=True):
    """Something else behind the first ``retain`` scalars of the content state that is named.

    Attributes:
        replacement: As a fragment, and perhaps empty; an empty tuple is spans and lines at once.
    """

    block_id: Id
    base_operation_id: Id
    retain: ScalarCount
    replacement: Fragment


class SealBody(_Closed, frozen=True, kw_only=True):
    """No change any more."""

    block_id: Id


class ErrorBody(_Closed, frozen=True, kw_only=True):
    """Why an operation was rejected; ``message`` is for people and may be empty."""

    code: OperationErrorCode
    message: str | UnsetType = UNSET


# requests and their answers ---------------------------------------------------------------
class CapabilityQuery(_Closed, frozen=True, kw_only=True, tag_field="kind", tag="capability.query"):
    """Is this version of the protocol spoken here?"""

    version: Version
    request_id: Id
    body: Empty


class CapabilityResponse(
    _Closed, frozen=True, kw_only=True, tag_field="kind", tag="capability.response"
):
    """The answer, in the version that was asked for."""

    version: Version
    request_id: Id
    body: Supported | Unsupported | Failed


class ContextOpen(_Closed, frozen=True, kw_only=True, tag_field="kind", tag="context.open"):
    """Give me a Context."""

    version: Version
    request_id: Id
    body: Empty


class ContextOpenResponse(
    _Closed, frozen=True, kw_only=True, tag_field="kind", tag="context.open.response"
):
    """The answer; ``context_id`` is there if, and only if, it was opened."""

    version: Version
    request_id: Id
    context_id: Id | UnsetType = UNSET
    body: Opened | Failed


class ContextClose(_Closed, frozen=True, kw_only=True, tag_field="kind", tag="context.close"):
    """Seal what is mutable, and take no more."""

    version: Version
    request_id: Id
    context_id: Id
    body: Empty


class ContextCloseResponse(
    _Closed, frozen=True, kw_only=True, tag_field="kind", tag="context.close.response"
):
    """The answer, after all earlier operations."""

    version: Version
    request_id: Id
    context_id: Id
    body: Closed | Failed


# operations -------------------------------------------------------------------------------
class BlockAppend(_Closed, frozen=True, kw_only=True, tag_field="kind", tag="block.append"):
    """Add a Block."""

    version: Version
    operation_id: Id
    context_id: Id
    body: AppendBody


class BlockUpdate(_Closed, frozen=True, kw_only=True, tag_field="kind", tag="block.update"):
    """Replace the content of a Block."""

    version: Version
    operation_id: Id
    context_id: Id
    body: UpdateBody


class BlockExtend(_Closed, frozen=True, kw_only=True, tag_field="kind", tag="block.extend"):
    """Add to the content of a Block."""

    version: Version
    operation_id: Id
    context_id: Id
    body: ExtendBody


class BlockReplaceSuffix(
    _Closed, frozen=True, kw_only=True, tag_field="kind", tag="block.replace_suffix"
):
    """Replace the end of the content of a Block."""

    version: Version
    operation_id: Id
    context_id: Id
    body: ReplaceSuffixBody


class BlockSeal(_Closed, frozen=True, kw_only=True, tag_field="kind", tag="block.seal"):
    """Let nobody change a Block any more."""

    version: Version
    operation_id: Id
    context_id: Id
    body: SealBody


class ProtocolError(_Closed, frozen=True, kw_only=True, tag_field="kind", tag="protocol.error"):
    """An operation was rejected and changed nothing."""

    version: Version
    operation_id: Id
    context_id: Id
    body: ErrorBody


Request: TypeAlias = CapabilityQuery | ContextOpen | ContextClose
Response: TypeAlias = CapabilityResponse | ContextOpenResponse | ContextCloseResponse
Operation: TypeAlias = BlockAppend | BlockUpdate | BlockExtend | BlockReplaceSuffix | BlockSeal
ToTerminal: TypeAlias = Request | Operation
ToApplication: TypeAlias = Response | ProtocolError
WireMessage: TypeAlias = ToTerminal | ToApplication

MESSAGE_TYPES: Final[tuple[type[Struct], ...]] = (
    CapabilityQuery, CapabilityResponse, ContextOpen, ContextOpenResponse, ContextClose,
    ContextCloseResponse, BlockAppend, BlockUpdate, BlockExtend, BlockReplaceSuffix, BlockSeal,
    ProtocolError,
)  # fmt: skip


# who may be answered ----------------------------------------------------------------------
class RequestIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What names an invalid request well enough to answer it."""

    version: int
    kind: str
    request_id: str
    context_id: str | None = None


class OperationIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What names an invalid operation well enough to answer it."""

    version: int
    kind: str
    operation_id: str
    context_id: str


Identity: TypeAlias = RequestIdentity | OperationIdentity
