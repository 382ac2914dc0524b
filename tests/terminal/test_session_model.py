"""Any history of a connection, against a model that keeps everything and is in no hurry."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from blockwire.terminal import (
    Answer,
    BlockAppend,
    BlockReplaceSuffix,
    BlockSeal,
    BlockUpdate,
    ContextOpen,
    Limits,
    WireMessage,
)
from blockwire.terminal.content import Span
from blockwire.terminal.vocabulary import PLAIN, STYLED, Lifecycle
from tests.terminal.sessions import (
    World,
    append,
    closing,
    code_of,
    extend,
    invalid_operation,
    invalid_request,
    opening,
    query,
    replace_suffix,
    seal,
    update,
)

IDS_MAX: Final = 12
BLOCKS_MAX: Final = 3
BYTES_MAX: Final = 24
OPEN_MAX: Final = 2

operation_ids = st.sampled_from([str(number) for number in range(2 * IDS_MAX)])
block_ids = st.sampled_from(["a", "b", "c", "d", "e"])
context_ids = st.sampled_from(["c1", "c1", "c2", "c3", "nowhere"])
request_ids = st.sampled_from([f"r{number}" for number in range(20)])
texts = st.text(alphabet="ab\r\n\t\u00e9\U0001f642", max_size=9)
shapes = st.sampled_from([PLAIN, PLAIN, PLAIN, STYLED])


class ModelBlock:
    """A Block as its rows in the table of operations say."""

    def __init__(
        self, block_id: str, type_name: str, text: str, state: str, lifecycle: str
    ) -> None:
        self.block_id = block_id
        self.type_name = type_name
        self.text: str | None = text
        self.state = state
        self.lifecycle = lifecycle

    def row(self) -> dict[str, Any]:
        return {"id": self.block_id, "lifecycle": self.lifecycle, "type": self.type_name,
                "text": self.text, "content_state": self.state}  # fmt: skip


class ModelContext:
    def __init__(self) -> None:
        self.state = "open"
        self.blocks: list[ModelBlock] = []
        self.used: list[str] = []

    def find(self, block_id: str) -> ModelBlock | None:
        return next((block for block in self.blocks if block.block_id == block_id), None)

    def use(self, operation_id: str) -> None:
        if operation_id not in self.used and len(self.used) < IDS_MAX:
            self.used.append(operation_id)


def data_of(type_name: str, text: str) -> Any:
    return text if type_name == PLAIN else (Span(text=text),)


class SessionMachine(RuleBasedStateMachine):
    """The session and the model hear the same, and must say and become the same."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(
            contexts=0,
            optional_content_types=(STYLED,),
            limits=Limits(operation_ids_max=IDS_MAX, blocks_max=BLOCKS_MAX,
                          block_bytes_max=BYTES_MAX, contexts_open_max=OPEN_MAX),
        )  # fmt: skip
        self.contexts: dict[str, ModelContext] = {}
        self.requests: dict[str, tuple[object, str]] = {}
        self.has_ended = False

    # requests -----------------------------------------------------------------------------
    def ask(self, message: Any, code: str) -> None:
        """Send a request whose outcome, if it is new, is ``code``."""
        known = self.requests.get(message.request_id)
        if known is None:
            self.requests[message.request_id] = (message, code)
        elif known[0] != message:
            code = "request_id_conflict"
        else:
            code = known[1]
        self.expect(message, None if self.has_ended else code)

    def is_new(self, request_id: str) -> bool:
        return not self.has_ended and request_id not in self.requests

    @rule(request_id=request_ids)
    def send_query(self, request_id: str) -> None:
        self.ask(query(request_id), "supported")

    @rule(request_id=request_ids)
    def send_open(self, request_id: str) -> None:
        open_count = sum(context.state == "open" for context in self.contexts.values())
        is_new = self.is_new(request_id)
        self.ask(opening(request_id), "opened" if open_count < OPEN_MAX else "resource_exhausted")
        if is_new and open_count < OPEN_MAX:
            self.contexts[f"c{len(self.contexts) + 1}"] = ModelContext()

    @rule(request_id=request_ids, context_id=context_ids)
    def send_close(self, request_id: str, context_id: str) -> None:
        context = self.contexts.get(context_id)
        is_closable = context is not None and context.state != "invalidated"
        is_new = self.is_new(request_id)
        self.ask(closing(request_id, context_id), "closed" if is_closable else "context_not_open")
        if is_new and context is not None and context.state == "open":
            self.close(context, "closed")

    @rule(request_id=request_ids, kind=st.sampled_from(["capability.query", "context.open"]))
    def send_invalid_request(self, request_id: str, kind: str) -> None:
        if self.is_new(request_id):
            self.requests[request_id] = (None, "")
        answer = self.world.session.refuse_invalid(invalid_request(kind, request_id))
        assert code_of(answer) == (None if self.has_ended else "invalid_message")

    def close(self, context: ModelContext, state: str) -> None:
        context.state = state
        for block in context.blocks:
            if state == "closed":
                block.lifecycle = "sealed"
        context.blocks = [block for block in context.blocks if block.text is not None]

    # operations ---------------------------------------------------------------------------
    def operate(
        self, message: Any, new: str = "", grown_bytes: int = 0, data_type: str | None = None
    ) -> None:
        """Send an operation; ``new`` is the text that the Block has after it."""
        context = self.contexts.get(message.context_id)
        code = self.judge(message, context, grown_bytes, data_type)
        if context is not None and context.state == "open" and not self.has_ended:
            context.use(message.operation_id)
        self.expect(message, None if self.has_ended else code)
        if code is not None or self.has_ended or context is None:
            return
        block = context.find(message.body.block_id)
        if block is None:
            context.blocks.append(
                ModelBlock(message.body.block_id, message.body.content.type, new,
                           message.operation_id, message.body.lifecycle)
            )  # fmt: skip
        elif type(message) is BlockSeal:
            block.lifecycle = "sealed"
        else:
            block.text = new
            block.state = message.operation_id
            if type(message) is BlockUpdate:
                block.type_name = message.body.content.type

    def judge(
        self, message: Any, context: ModelContext | None, grown_bytes: int, data_type: str | None
    ) -> str | None:
        """Return the code that the page of errors gives."""
        if context is None or context.state != "open":
            return "context_not_open"
        if len(context.used) >= IDS_MAX:
            return "resource_exhausted"
        if message.operation_id in context.used:
            return "operation_id_reused"
        block = context.find(message.body.block_id)
        if type(message) is not BlockAppend:
            return self.judge_block(message, block, grown_bytes, data_type)
        if block is not None:
            return "block_id_reused"
        is_full = len(context.blocks) >= BLOCKS_MAX
        return "resource_exhausted" if is_full or grown_bytes > BYTES_MAX else None

    def judge_block(
        self, message: Any, block: ModelBlock | None, grown_bytes: int, data_type: str | None
    ) -> str | None:
        is_seal = type(message) is BlockSeal
        if block is None:
            return "block_not_found"
        if block.lifecycle == "sealed" or is_seal:
            return "block_sealed" if block.lifecycle == "sealed" else None
        if block.text is None:
            return "resource_exhausted"
        refusal = self.judge_change(message, block, block.text, data_type)
        is_too_large = grown_bytes > 0 and len(block.text.encode()) + grown_bytes > BYTES_MAX
        return refusal or ("resource_exhausted" if is_too_large else None)

    @staticmethod
    def judge_change(
        message: Any, block: ModelBlock, text: str, data_type: str | None
    ) -> str | None:
        if type(message) is BlockUpdate:
            return None
        if message.body.base_operation_id != block.state:
            return "content_state_mismatch"
        if data_type != block.type_name:
            return "invalid_content"
        is_outside = type(message) is BlockReplaceSuffix and message.body.retain >= len(text)
        return "invalid_content_boundary" if is_outside else None

    @rule(
        operation_id=operation_ids, block_id=block_ids, context_id=context_ids, text=texts,
        lifecycle=st.sampled_from(["mutable", "mutable", "sealed"]), type_name=shapes,
    )  # fmt: skip
    def send_append(
        self, operation_id: str, block_id: str, context_id: str, text: str,
        lifecycle: Lifecycle, type_name: str,
    ) -> None:  # fmt: skip
        message = append(
            operation_id, data_of(type_name, text), block_id=block_id, context_id=context_id,
            lifecycle=lifecycle, type_name=type_name,
        )  # fmt: skip
        self.operate(message, text, len(text.encode()), type_name)

    @rule(operation_id=operation_ids, block_id=block_ids, context_id=context_ids, text=texts,
          type_name=shapes)  # fmt: skip
    def send_update(
        self, operation_id: str, block_id: str, context_id: str, text: str, type_name: str
    ) -> None:
        message = update(
            operation_id, data_of(type_name, text), block_id=block_id, context_id=context_id,
            type_name=type_name,
        )  # fmt: skip
        block, _ = self.look_up(context_id, block_id, 0)
        old = (block and block.text) or ""
        self.operate(message, text, len(text.encode()) - len(old.encode()), type_name)

    @rule(operation_id=operation_ids, block_id=block_ids, context_id=context_ids,
          text=texts.filter(bool), type_name=shapes, is_current=st.integers(0, 4))  # fmt: skip
    def send_extend(
        self, operation_id: str, block_id: str, context_id: str, text: str, type_name: str,
        is_current: int,
    ) -> None:  # fmt: skip
        block, base = self.look_up(context_id, block_id, is_current)
        message = extend(operation_id, base, data_of(type_name, text), block_id=block_id,
                         context_id=context_id)  # fmt: skip
        old = (block and block.text) or ""
        self.operate(message, old + text, len(text.encode()), type_name)

    @rule(operation_id=operation_ids, block_id=block_ids, context_id=context_ids, text=texts,
          type_name=shapes, is_current=st.integers(0, 4), retain=st.integers(0, 12))  # fmt: skip
    def send_replace_suffix(
        self, operation_id: str, block_id: str, context_id: str, text: str, type_name: str,
        is_current: int, retain: int,
    ) -> None:  # fmt: skip
        block, base = self.look_up(context_id, block_id, is_current)
        message = replace_suffix(operation_id, base, retain, data_of(type_name, text),
                                 block_id=block_id, context_id=context_id)  # fmt: skip
        old = (block and block.text) or ""
        # Counted as if each scalar that goes were one byte.
        grown_bytes = len(text.encode()) - len(old[retain:])
        self.operate(message, old[:retain] + text, grown_bytes, type_name)

    @rule(operation_id=operation_ids, block_id=block_ids, context_id=context_ids)
    def send_seal(self, operation_id: str, block_id: str, context_id: str) -> None:
        self.operate(seal(operation_id, block_id=block_id, context_id=context_id))

    @rule(operation_id=operation_ids, context_id=context_ids)
    def send_invalid_operation(self, operation_id: str, context_id: str) -> None:
        context = self.contexts.get(context_id)
        if context is not None and context.state == "open" and not self.has_ended:
            context.use(operation_id)
        answer = self.world.session.refuse_invalid(invalid_operation(operation_id, context_id))
        assert code_of(answer) == (None if self.has_ended else "invalid_message")

    def look_up(
        self, context_id: str, block_id: str, is_current: int
    ) -> tuple[ModelBlock | None, str]:
        context = self.contexts.get(context_id)
        block = context.find(block_id) if context else None
        return block, block.state if block and is_current else "stale"

    # the host -----------------------------------------------------------------------------
    @rule(context_id=context_ids)
    def invalidate(self, context_id: str) -> None:
        context = self.contexts.get(context_id)
        is_open = context is not None and context.state == "open"
        assert bool(self.world.session.invalidate(context_id)) == is_open
        if context is not None and is_open:
            self.close(context, "invalidated")

    @rule(context_id=context_ids, block_id=block_ids)
    def evict(self, context_id: str, block_id: str) -> None:
        context = self.contexts.get(context_id)
        block = context.find(block_id) if context else None
        self.world.session.evict(context_id, block_id)
        if context is not None and block is not None:
            block.text = None
            if context.state != "open":
                context.blocks.remove(block)

    @precondition(lambda self: len(self.requests) > 12)
    @rule()
    def end(self) -> None:
        self.world.session.end_of_connection()
        self.has_ended = True
        for context in self.contexts.values():
            if context.state == "open":
                self.close(context, "closed")

    # what must hold -----------------------------------------------------------------------
    def expect(self, message: WireMessage, code: str | None) -> None:
        """Compare what is said; what is prepared twice is the same, since nothing has changed."""
        session = self.world.session
        before = self.world.state()
        if type(message) is not ContextOpen:
            session.prepare(message)
        assert self.world.state() == before
        changes = self.world.do(message)
        answers = [change.message for change in changes if isinstance(change, Answer)]
        assert [code_of(answer) for answer in answers] == ([] if code is None else [code])

    @invariant()
    def a_host_sees_what_the_model_has(self) -> None:
        found = []
        for context in self.world.session.contexts.values():
            blocks = [
                {"id": block.block_id, "lifecycle": block.lifecycle, "type": block.content_type,
                 "text": None if block.content is None else block.content.text(),
                 "content_state": block.content_state}
                for block in context.blocks.values()
            ]  # fmt: skip
            found.append((context.context_id, context.state, blocks))
        assert found == [
            (context_id, context.state, [block.row() for block in context.blocks])
            for context_id, context in self.contexts.items()
        ]

    @invariant()
    def the_sums_are_those_of_what_is_there(self) -> None:
        ledger = self.world.session._ledger
        contexts = list(ledger.contexts.values())
        contents = [[block.content for block in context.blocks.values() if block.content]
                    for context in contexts]  # fmt: skip
        costs = [sum(content.cost_bytes for content in each) for each in contents]
        assert [context.cost_bytes for context in contexts] == costs
        assert ledger.cost_bytes == sum(costs)
        assert ledger.block_count == sum(len(context.blocks) for context in contexts)
        assert ledger.operation_id_count == sum(len(context.operation_ids) for context in contexts)
        assert ledger.open_count == sum(context.state == "open" for context in contexts)


SessionMachine.TestCase.settings = settings(stateful_step_count=60)
TestSession = SessionMachine.TestCase
