"""The state of one connection as a terminal sees it: what is asked, what is allowed, what happens.

Spec: docs/spec/terminal/contexts.md, docs/spec/terminal/operations.md. This module never sees
bytes, JSON or a screen. Which operation is allowed when is said by
:mod:`blockwire.terminal.preconditions` alone, how requests are answered by
:mod:`blockwire.terminal.requests`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from blockwire.errors import LocalProtocolError
from blockwire.terminal.bounds import PROTOCOL_VERSION
from blockwire.terminal.changes import change_context, close_context, do_operation
from blockwire.terminal.content import ContentType
from blockwire.terminal.contexts import ContextView, Ledger
from blockwire.terminal.effects import (
    Answer,
    Change,
    ContextInvalidated,
)
from blockwire.terminal.limits import Limits
from blockwire.terminal.messages import (
    BlockAppend,
    BlockExtend,
    BlockReplaceSuffix,
    BlockSeal,
    BlockUpdate,
    CapabilityQuery,
    ContextClose,
    ContextOpen,
    Identity,
    Operation,
    ProtocolError,
    RequestIdentity,
    ToApplication,
    WireMessage,
)
from blockwire.terminal.preconditions import CHECKS, Sheet
from blockwire.terminal.requests import (
    Offer,
    PreparedRequest,
    answer_request,
    fail_request,
    failed_identity,
    record_invalid,
    record_request,
    rejection,
)
from blockwire.terminal.types import CONTENT_TYPES
from blockwire.terminal.vocabulary import ERROR_PATHS, PLAIN, OperationErrorCode

PreparedOperation: TypeAlias = Sheet
"""An operation that may be done; ``operation`` is the message."""

Prepared: TypeAlias = PreparedOperation | PreparedRequest


class Rejected(Struct, frozen=True, gc=False):
    """An operation that may not be done; its commit uses its id up and answers.

    Attributes:
        revision: Of what was looked at.
    """

    operation: Operation
    code: OperationErrorCode
    revision: int


class Ignored(Struct, frozen=True, gc=False):
    """A message that gets no answer and changes nothing.

    Attributes:
        reason: A local code: ``not_for_terminal``, ``unknown_version`` or ``connection_ended``.
    """

    reason: str


class TerminalSession:
    """Contexts, Blocks and ids of one connection.

    ``prepare`` looks and changes nothing; ``commit`` does what was prepared last and cannot be
    refused. Between the two the host may ``reject`` instead.

    Args:
        new_context_id: Returns an id that is not in use; the session asks again if it was.
        limits: What is kept at most.
        optional_content_types: What is on offer beside ``text/plain``, as it is advertised.
        is_baseline_complete: Whether this end speaks the protocol; if not, queries are answered
            ``unsupported``.
        registry: What content types there are.

    Raises:
        LocalProtocolError: ``unknown_content_type`` for a type that the registry does not have,
            ``content_type_listed_twice`` for one named twice, or for ``text/plain``.
    """

    def __init__(
        self,
        *,
        new_context_id: Callable[[], str],
        limits: Limits | None = None,
        optional_content_types: Sequence[str] = (),
        is_baseline_complete: bool = True,
        registry: Mapping[str, ContentType] = CONTENT_TYPES,
    ) -> None:
        names = (PLAIN, *optional_content_types)
        if len(set(names)) < len(names):
            raise LocalProtocolError("content_type_listed_twice", "an optional type is named once")
        if unknown := set(names) - registry.keys():
            raise LocalProtocolError("unknown_content_type", f"not known here: {sorted(unknown)}")
        self._offer = Offer(
            optional_content_types=names[1:],
            is_baseline_complete=is_baseline_complete,
            new_context_id=new_context_id,
        )
        self._ledger = Ledger(
            limits=limits or Limits(),
            content_types=MappingProxyType({name: registry[name] for name in names}),
        )
        self._contexts: Mapping[str, ContextView] = MappingProxyType(self._ledger.contexts)
        self._has_ended = False

    @property
    def contexts(self) -> Mapping[str, ContextView]:
        """Every Context that came into being, in order, whatever became of it; live."""
        return self._contexts

    @property
    def content_types(self) -> Mapping[str, ContentType]:
        """The types on offer by name, the baseline first."""
        return self._ledger.content_types

    @property
    def has_ended(self) -> bool:
        """Whether nothing is answered any more."""
        return self._has_ended

    def prepare(self, message: WireMessage) -> Prepared | Rejected | Ignored:
        """Say what is to be done about a valid message. Changes nothing."""
        if self._has_ended:
            return Ignored("connection_ended")
        match message:
            case BlockExtend() | BlockAppend() | BlockUpdate() | BlockReplaceSuffix() | BlockSeal():
                if message.version == PROTOCOL_VERSION:
                    return self._prepare_operation(message)
                return Ignored("unknown_version")
            case ContextOpen() | ContextClose() if message.version != PROTOCOL_VERSION:
                return Ignored("unknown_version")
            case CapabilityQuery() | ContextOpen() | ContextClose():
                return answer_request(self._ledger, message, self._offer)
            case _:
                return Ignored("not_for_terminal")

    def _prepare_operation(self, operation: Operation) -> PreparedOperation | Rejected:
        ledger = self._ledger
        context = ledger.contexts.get(operation.context_id)
        block = None if context is None else context.blocks.get(operation.body.block_id)
        sheet = Sheet(ledger, operation, context, block, ledger.revision)
        for check, code in CHECKS[type(operation)]:
            if not check(sheet):
                return Rejected(operation, code, ledger.revision)
        return sheet

    def commit(self, verdict: Prepared | Rejected | Ignored) -> tuple[Change, ...]:
        """Do what was prepared, and return what that changed, in order.

        Raises:
            LocalProtocolError: ``stale_prepared`` if something has changed since; then nothing
                does now.
        """
        if isinstance(verdict, Sheet):
            self._begin_change(verdict.revision)
            return (do_operation(self._ledger, verdict),)
        if isinstance(verdict, PreparedRequest):
            self._begin_change(verdict.revision)
            return self._settle(verdict)
        if isinstance(verdict, Rejected):
            self._begin_change(verdict.revision)
            return (Answer(self._refuse_operation(verdict.operation, verdict.code)),)
        return ()

    def reject(self, prepared: PreparedOperation, code: OperationErrorCode) -> ProtocolError:
        """Say no for the host: the operation id is used up, and nothing else happens.

        Raises:
            LocalProtocolError: ``wrong_error_code`` for a code that answers no operation.
        """
        if not ERROR_PATHS[code][1]:
            raise LocalProtocolError("wrong_error_code", f"{code} does not answer an operation")
        operation: Operation = prepared.operation
        return self._refuse_operation(operation, code)

    def fail_message(self, message: WireMessage) -> ToApplication | None:
        """Answer ``internal_error``, since the terminal failed before anything changed.

        The id is used up, if it was not before; None if the message has no answer at all.
        """
        if self._has_ended or message.version != PROTOCOL_VERSION:
            return None
        self._ledger.revision += 1
        match message:
            case BlockExtend() | BlockAppend() | BlockUpdate() | BlockReplaceSuffix() | BlockSeal():
                return self._refuse_operation(message, "internal_error")
            case CapabilityQuery() | ContextOpen() | ContextClose():
                return fail_request(self._ledger, message, "internal_error")
            case _:
                return None

    def refuse_invalid(self, identity: Identity) -> ToApplication | None:
        """Answer ``invalid_message`` to what could be identified; None after the end.

        A request id that is new is taken from now on, and so is an operation id of an open
        Context; what was stored before stays.
        """
        if self._has_ended:
            return None
        ledger = self._ledger
        ledger.revision += 1
        if isinstance(identity, RequestIdentity):
            record_invalid(ledger, identity.request_id)
            return failed_identity(identity, "invalid_message")
        return self._use_up(
            identity.version, identity.operation_id, identity.context_id, "invalid_message"
        )

    def invalidate(self, context_id: str) -> tuple[Change, ...]:
        """Take the authority of an open Context away; its Blocks stay as they are.

        Nothing is sent. Returns nothing for a Context that is not open.
        """
        context = self._ledger.contexts.get(context_id)
        if context is None or context.state != "open":
            return ()
        self._ledger.revision += 1
        self._ledger.leave_open(context, "invalidated")
        return (ContextInvalidated(context_id),)

    def evict(self, context_id: str, block_id: str) -> None:
        """Forget the content of a Block that the host has trimmed; its id stays used.

        Once nothing can address it any more, all of it is forgotten. A Block that is not there,
        or was evicted before, is left alone.
        """
        context = self._ledger.contexts.get(context_id)
        block = context and context.blocks.get(block_id)
        if not context or not block or block.content is None:
            return
        self._ledger.revision += 1
        self._ledger.count(context, -block.content.cost_bytes)
        block.content = None
        if context.state != "open":
            self._ledger.forget(context, block)

    def end_of_connection(self) -> tuple[Change, ...]:
        """Close every open Context without an answer; nothing is answered from now on."""
        self._ledger.revision += 1
        self._has_ended = True
        changes: list[Change] = []
        for context in self._ledger.contexts.values():
            changes += close_context(self._ledger, context)
        return tuple(changes)

    def stop(self) -> None:
        """Answer nothing any more, and leave everything as it is: what is true is not known."""
        self._ledger.revision += 1
        self._has_ended = True

    # what happens -------------------------------------------------------------------------
    def _begin_change(self, revision: int) -> None:
        if revision != self._ledger.revision:
            raise LocalProtocolError(
                "stale_prepared", "something has changed since it was prepared"
            )
        self._ledger.revision += 1

    def _settle(self, prepared: PreparedRequest) -> tuple[Change, ...]:
        request, response = prepared.request, prepared.response
        if not prepared.is_new:
            return (Answer(response),)
        changes = change_context(self._ledger, response)
        record_request(self._ledger, request, response)
        return (*changes, Answer(response))

    def _refuse_operation(self, operation: Operation, code: OperationErrorCode) -> ProtocolError:
        self._ledger.revision += 1
        return self._use_up(operation.version, operation.operation_id, operation.context_id, code)

    def _use_up(
        self, version: int, operation_id: str, context_id: str, code: OperationErrorCode
    ) -> ProtocolError:
        context = self._ledger.contexts.get(context_id)
        if context is not None and context.state == "open":
            self._ledger.record(context, operation_id)
        return rejection(version, operation_id, context_id, code)
