"""What a program holds: a Context, and the Blocks that it has appended to it.

Spec: docs/spec/terminal/application.md. Nothing here writes: a change goes into the model at once
and to the terminal with the next write, or through the fallback.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, Literal, Protocol, TypeAlias

from blockwire.errors import LocalProtocolError
from blockwire.terminal.content import Content, ContentRefusal
from blockwire.terminal.cutting import GivenData, json_bytes, read_piece, read_whole
from blockwire.terminal.fallback import Fallback
from blockwire.terminal.news import BlockFailed, ContextLost, LossCode, News
from blockwire.terminal.outgoing import Outgoing
from blockwire.terminal.sent import OPERATION_COST_BYTES, Sent
from blockwire.terminal.types import CONTENT_TYPES
from blockwire.terminal.vocabulary import PLAIN, Lifecycle

__all__ = ["BLOCK_ID_CHARS_MAX", "BlockHandle", "ContextHandle", "ContextState"]

BLOCK_ID_CHARS_MAX: Final = 1_024
"""Of an id that a program chooses; it stands in every message about its Block."""

ContextState: TypeAlias = Literal["opening", "open", "closing", "closed", "refused", "lost"]

# In these an error may still say something about a Block.
_LISTENING: Final = frozenset({"open", "closing"})

# As they are written: no sign, no leading zero.
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,15}", re.ASCII)


class Surroundings(Protocol):
    """What an application is to its Contexts."""

    outgoing: Outgoing
    content_types: frozenset[str]

    @property
    def waiting_bytes_max(self) -> int:
        """How much may wait to be written."""

    @property
    def fallback(self) -> Fallback | None:
        """What shows the Blocks, if the terminal does not."""

    @property
    def changed(self) -> Callable[[], None]:
        """To be called when something waits to be written."""

    def close_context(self, context: ContextHandle) -> None:
        """Ask for the end of a Context, or end it here."""


class BlockHandle:
    """One Block of a program.

    Every method checks first and changes nothing when it raises
    :class:`~blockwire.errors.LocalProtocolError`: ``block_sealed``, ``block_failed``,
    ``context_not_open``, ``too_much_waiting`` (retryable: drain first), and what content is
    refused with. Sending has no answer when it works; what goes wrong is healed if it can be, and
    otherwise told once as :class:`~blockwire.terminal.news.BlockFailed`.
    """

    __slots__ = ("_context", "_failure", "_lifecycle", "_sent")

    def __init__(self, context: ContextHandle, sent: Sent, lifecycle: Lifecycle) -> None:
        self._context = context
        self._sent = sent
        self._lifecycle: Lifecycle = lifecycle
        self._failure: LossCode | None = None

    @property
    def context(self) -> ContextHandle:
        """Where it was appended."""
        return self._context

    @property
    def sent(self) -> Sent:
        """What it is on the wire."""
        return self._sent

    @property
    def block_id(self) -> str:
        """Its id in its Context."""
        return self._sent.block_id

    @property
    def type(self) -> str:
        """The type of its content."""
        return self._sent.type

    @property
    def lifecycle(self) -> Lifecycle:
        """Whether it may change."""
        return self._lifecycle

    @property
    def content(self) -> Content | None:
        """What it should show; None once its seal is written: it is the terminal's then."""
        return self._sent.content

    @property
    def failure(self) -> LossCode | None:
        """Why it is not shown as it should be, if so."""
        return self._failure

    def extend(self, fragment: GivenData) -> None:
        """Add to its end. Nothing is added where ``fragment`` is empty."""
        content = self._changeable()
        data = read_piece(self.type, fragment)
        if not data:
            return
        _refuse(content.refuse_extend(data))
        self._context.reserve(json_bytes(data))
        content.extend(data)
        if (fallback := self._context.fallback) is not None:
            self._context.show(fallback.extend(self, data))
        else:
            self._context.outgoing.extend(self._sent, data)
        self._context.changed()

    def replace_suffix(self, retain: int, replacement: GivenData) -> None:
        """Keep ``retain`` scalars of its logical text and put ``replacement`` behind them.

        Args:
            retain: 0 to less than the number of scalars.
            replacement: Of its type; perhaps empty.
        """
        content = self._changeable()
        data = read_piece(self.type, replacement)
        if retain < 0:
            raise LocalProtocolError("invalid_content_boundary", "retain is not negative")
        _refuse(content.refuse_replace_suffix(retain, data))
        self._context.reserve(json_bytes(data))
        content.replace_suffix(retain, data)
        if (fallback := self._context.fallback) is not None:
            self._context.show(fallback.replace_suffix(self, retain, data))
        else:
            self._context.outgoing.replace_suffix(self._sent, retain, data)
        self._context.changed()

    def update(self, content: GivenData, *, type: str | None = None) -> None:  # noqa: A002 - the word of the wire
        """Replace its content, and its type if one is given."""
        self._changeable()
        type_name = self._context.check_type(type or self.type)
        data = read_whole(type_name, content)
        self._context.reserve(json_bytes(data))
        self._sent.type = type_name
        self._sent.content = CONTENT_TYPES[type_name].new_content(data)
        if (fallback := self._context.fallback) is not None:
            self._context.show(fallback.update(self))
        else:
            self._context.outgoing.update(self._sent, data)
        self._context.changed()

    def seal(self) -> None:
        """Let it never change again."""
        self._changeable()
        self._context.reserve(0)
        self._lifecycle = "sealed"
        if (fallback := self._context.fallback) is not None:
            self._context.show(fallback.seal(self))
            self._sent.content = None
        else:
            self._context.outgoing.seal(self._sent)
        self._context.changed()

    def fail(self, code: LossCode) -> None:
        """Take no more changes: the terminal cannot show them."""
        self._failure = code
        self._sent.content = None
        self._context.outgoing.drop(self._sent)

    def end(self) -> None:
        """Be sealed by the end of the Context."""
        self._lifecycle = "sealed"
        self._sent.content = None

    def _changeable(self) -> Content:
        self._context.check_open()
        if self._failure is not None:
            raise LocalProtocolError("block_failed", f"the terminal said {self._failure}")
        if self._lifecycle == "sealed":
            raise LocalProtocolError("block_sealed", f"{self.block_id} is sealed")
        assert self._sent.content is not None, "what is neither failed nor sealed has content"
        return self._sent.content


class ContextHandle:
    """One Context of a program, on the terminal or in the fallback."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._context_id = ""
        self._state: ContextState = "opening"
        self._blocks: list[BlockHandle] = []
        self._names: set[str] = set()

    @property
    def context_id(self) -> str:
        """As the terminal has named it; empty until it is open, and in the fallback."""
        return self._context_id

    @property
    def state(self) -> ContextState:
        """Where it is in its life."""
        return self._state

    @property
    def outgoing(self) -> Outgoing:
        """What waits to be written."""
        return self._surroundings.outgoing

    @property
    def fallback(self) -> Fallback | None:
        """What shows its Blocks, if the terminal does not."""
        return self._surroundings.fallback

    def append(
        self,
        content: GivenData,
        *,
        type: str = PLAIN,  # noqa: A002 - the word of the wire
        lifecycle: Lifecycle = "mutable",
        block_id: str | None = None,
    ) -> BlockHandle:
        """Add a Block at the end.

        Args:
            content: Text, or spans or lines, by ``type``.
            type: Of what was negotiated.
            lifecycle: ``sealed`` if it will never change.
            block_id: A name of the program's own; else it is numbered.

        Raises:
            LocalProtocolError: ``context_not_open``, ``unsupported_content_type``,
                ``block_id_reused``, ``too_much_waiting`` (retryable), and what content is
                refused with.
        """
        self.check_open()
        data = read_whole(self.check_type(type), content)
        number = len(self._blocks) + 1
        name = f"b{number}" if block_id is None else block_id
        self._check_name(name)
        self.reserve(json_bytes(data))
        sent = Sent(
            context_id=self._context_id,
            block_id=name,
            number=number,
            type=type,
            content=CONTENT_TYPES[type].new_content(data),
        )
        block = BlockHandle(self, sent, lifecycle)
        self._names.add(name)
        self._blocks.append(block)
        if (fallback := self.fallback) is not None:
            self.show(fallback.append(block))
            if lifecycle == "sealed":
                block.end()
        else:
            self.outgoing.append(sent, data, lifecycle)
        self.changed()
        return block

    def close(self) -> None:
        """Seal what is mutable, and take no more."""
        self.check_open()
        self._state = "closing"
        self._surroundings.close_context(self)

    def check_open(self) -> None:
        """Raise ``context_not_open`` unless it is open."""
        if self._state != "open":
            raise LocalProtocolError("context_not_open", f"the Context is {self._state}")

    def check_type(self, name: str) -> str:
        """Return ``name`` if it is the name of a content type that may be used."""
        if name not in self._surroundings.content_types:
            raise LocalProtocolError("unsupported_content_type", f"{name} was not negotiated")
        return name

    def reserve(self, size_bytes: int) -> None:
        """Raise ``too_much_waiting`` if that much more cannot wait to be written."""
        waiting_bytes = self.outgoing.waiting_bytes
        if waiting_bytes and (
            waiting_bytes + size_bytes + OPERATION_COST_BYTES > self._surroundings.waiting_bytes_max
        ):
            raise LocalProtocolError(
                "too_much_waiting", f"{waiting_bytes} bytes wait to be written", retryable=True
            )

    def show(self, data: bytes) -> None:
        """Write what a fallback has made of a change."""
        self.outgoing.add_bytes(data)

    def changed(self) -> None:
        """Say that something waits to be written."""
        self._surroundings.changed()

    def ready(self, context_id: str) -> None:
        """Be open."""
        self._context_id = context_id
        self._state = "open"

    def refused(self) -> None:
        """Never be open."""
        self._state = "refused"

    def ended(self) -> None:
        """Be closed."""
        self._state = "closed"
        for block in self._blocks:
            block.end()

    def lost(self, code: LossCode) -> ContextLost:
        """Take no more, and write nothing that waits."""
        for block in self._blocks:
            self.outgoing.drop(block.sent)
        self.ended()
        self._state = "lost"
        return ContextLost(self, code)

    def unsealed(self) -> Iterator[BlockHandle]:
        """Yield the Blocks that are mutable."""
        return (block for block in self._blocks if block.lifecycle == "mutable")

    def heal(self) -> None:
        """Write the whole content of every Block that is on the wire and may still change."""
        if self._state == "open":
            for block in self._blocks:
                if block.sent.content is not None and block.sent.count:
                    self.outgoing.heal(block.sent)

    def rejected(self, operation_id: str, code: LossCode) -> list[News]:
        """Return what follows from an error that names one of its operations."""
        found = self._find(operation_id)
        if found is None or self._state not in _LISTENING:
            return []
        if code == "context_not_open":
            return [self.lost(code)]
        block, sent, number = found
        first, last = sent.healed_at
        if block.failure is not None:
            return []
        if number > 1 and (sent.healing is not None or number < first):
            # It was written before the update that puts everything right.
            return []
        can_heal = sent.content is not None and (
            self._state == "open" or self.outgoing.holds_close(self._context_id)
        )
        if number == 1 or number <= last or not can_heal:
            block.fail(code)
            return [BlockFailed(block, code)]
        self.outgoing.heal(sent)
        self.changed()
        return []

    def _find(self, operation_id: str) -> tuple[BlockHandle, Sent, int] | None:
        """Return the Block that an operation changed, and the number of the operation.

        An id that this program has not used is another's: connections are shared.
        """
        for_block, _, for_operation = operation_id.partition(".")
        if not (_NUMBER.fullmatch(for_block) and _NUMBER.fullmatch(for_operation)):
            return None
        number, count = int(for_block), int(for_operation)
        if number > len(self._blocks):
            return None
        block = self._blocks[number - 1]
        sent = block.sent
        return (block, sent, count) if count <= sent.count else None

    def _check_name(self, name: str) -> None:
        if not 1 <= len(name) <= BLOCK_ID_CHARS_MAX:
            raise LocalProtocolError(
                "invalid_message", f"a block id has 1 to {BLOCK_ID_CHARS_MAX} characters"
            )
        if name in self._names:
            raise LocalProtocolError("block_id_reused", f"{name} is the id of another Block")
        json_bytes(name)


def _refuse(code: ContentRefusal | None) -> None:
    if code is not None:
        raise LocalProtocolError(code, "the content does not take it")
