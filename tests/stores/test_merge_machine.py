"""Every cursor, every moment of merging and trimming, blocks interleaved, both views, cut reads.

Whatever happens in whatever order, a reader ends in the state that the events made.
"""

import asyncio
import tempfile
from collections.abc import Coroutine
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from blockwire.content import (
    BlockCompleted,
    ConversationState,
    MessageCreated,
    UnknownEvent,
    View,
    apply,
    decode_event,
)
from blockwire.errors import StoreError
from blockwire.ports import Append, RetentionLimits, Store
from blockwire.stores import MemoryStore, SqliteStore
from blockwire.testing.store_contract import decode_frames, fold, same
from blockwire.testing.store_script import T0, Script, make_question, new_conversation

pytestmark = pytest.mark.timeout(180)

VIEWS: Final[tuple[View, View]] = ("owner", "public")
VIEW = st.sampled_from(VIEWS)
TEXTS = st.lists(
    st.text(max_size=6)
    | st.sampled_from(["\U0001f468\u200d\U0001f469", "\x00", "x" * 200, "\n\n"]),
    min_size=1,
    max_size=4,
)
BYTES = st.sampled_from([0, 1, 400, 2_000, 100_000])

# So small that a short story has many windows, segments, and runs that are too long.
SMALL: Final = {
    "blockwire.stores.sqlite.merging._WINDOW_EVENTS": 5,
    "blockwire.stores.sqlite.merging._SCAN_BYTES": 300,
    "blockwire.stores.sqlite.merging.SEGMENT_FRAMES": 4,
    "blockwire.stores.sqlite.joining.SEGMENT_FRAMES": 3,
    "blockwire.stores.sqlite.trimming._ROWS_MAX": 2,
    "blockwire.stores.merging.MERGED_CHARS_MAX": 24,
}


class Reader:
    """One that comes back again and again, with what it has."""

    def __init__(self, view: View) -> None:
        self.view: View = view
        self.state = ConversationState()


class MergeMachine(RuleBasedStateMachine):
    """One conversation in one store, and all that may happen to it."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.patches = ExitStack()
        for name, value in SMALL.items():
            self.patches.enter_context(patch(name, value))
        self.folder = tempfile.TemporaryDirectory()
        self.script = Script()
        self.turn_count = self.block_count = self.message_count = 0
        self.open_blocks: list[str] = []
        self.is_running = False
        self.lost_pairs = False
        # What a reader of everything knows at each number.
        self.known: dict[View, list[ConversationState]] = {v: [ConversationState()] for v in VIEWS}
        self.readers = [Reader("owner"), Reader("public")]

    @initialize(is_sqlite=st.booleans())
    def begin(self, is_sqlite: bool) -> None:
        path = Path(self.folder.name) / "store.sqlite3"
        self.store: Store = SqliteStore(path, synchronous="NORMAL") if is_sqlite else MemoryStore()
        self.run(self.store.open())
        self.run(self.store.create_conversation(new_conversation()))

    def run(self, call: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(call)

    def teardown(self) -> None:
        try:
            if hasattr(self, "store"):
                self.check_all()
                self.run(self.store.aclose())
        finally:
            self.runner.close()
            self.patches.close()
            self.folder.cleanup()

    def check_all(self) -> None:
        for reader in self.readers:
            self.read_on(reader, 1_000_000)
            assert same(reader.state, self.known[reader.view][-1])
        assert self.run(self.store.check()) == []

    @property
    def turn_id(self) -> str:
        return f"turn_{self.turn_count}"

    @property
    def head(self) -> int:
        return len(self.known["owner"]) - 1

    # writing ------------------------------------------------------------------------------
    def append(self, change: Append) -> None:
        self.script.ts += 1
        appended = self.run(self.store.append(change))
        for entry in appended.entries:
            for view in VIEWS:
                frame = entry.owner_frame if view == "owner" else entry.public_frame
                state = self.known[view][-1]
                if frame is not None:
                    (event,) = decode_frames(frame)
                    state = apply(state, decode_event(event))
                self.known[view].append(state)

    @precondition(lambda self: not self.is_running)
    @rule()
    def start_turn(self) -> None:
        self.turn_count += 1
        self.is_running = True
        self.append(self.script.start_turn(self.turn_id))

    @precondition(lambda self: self.is_running and len(self.open_blocks) < 3)
    @rule(is_private=st.booleans())
    def start_block(self, is_private: bool) -> None:
        self.block_count += 1
        block_id = f"b{self.block_count}"
        start = self.script.start_thought if is_private else self.script.start_block
        self.append(start(self.turn_id, block_id))
        self.open_blocks.append(block_id)

    @precondition(lambda self: bool(self.open_blocks))
    @rule(texts=TEXTS, which=st.integers(0, 2), apart=st.booleans())
    def write(self, texts: list[str], which: int, apart: bool) -> None:
        block_id = self.open_blocks[which % len(self.open_blocks)]
        for part in [[text] for text in texts] if apart else [texts]:
            self.append(self.script.write(*part, turn_id=self.turn_id, block_id=block_id))

    @precondition(lambda self: bool(self.open_blocks))
    @rule(which=st.integers(0, 2))
    def complete(self, which: int) -> None:
        block_id = self.open_blocks.pop(which % len(self.open_blocks))
        event = BlockCompleted(turn_id=self.turn_id, block_id=block_id)
        self.append(self.script.tell(event))

    @rule()
    def say_something_unknown(self) -> None:
        self.append(self.script.tell(UnknownEvent(type="test.said", members={"a": 1})))

    @rule()
    def import_message(self) -> None:
        self.message_count += 1
        message = make_question(f"msg_own_{self.message_count}")
        self.append(self.script.tell(MessageCreated(message=message)))

    @precondition(lambda self: self.is_running)
    @rule()
    def end_turn(self) -> None:
        self.append(self.script.end_turn(self.turn_id))
        self.is_running = False
        self.open_blocks.clear()

    # keeping it small ---------------------------------------------------------------------
    @rule(steps=st.integers(1, 6))
    def merge(self, steps: int) -> None:
        for _ in range(steps):
            self.run(self.store.merge_step())

    @rule()
    def merge_everything(self) -> None:
        while self.run(self.store.merge_step()):
            pass

    @rule()
    def join(self) -> None:
        if isinstance(self.store, SqliteStore):
            self.run(self.store.join_rows())

    @rule(
        limits=st.builds(
            RetentionLimits,
            events_before=st.none() | st.integers(T0, T0 + 60),
            conversation_bytes_max=st.none() | st.integers(0, 20_000),
        ),
        steps=st.integers(1, 4),
    )
    def trim(self, limits: RetentionLimits, steps: int) -> None:
        for _ in range(steps):
            self.run(self.store.trim_step(limits))
        start = self.run(self.store.log_start("conv_1"))
        running = self.known["owner"][start].running
        assert not running, "a log begins where nothing runs"

    @precondition(lambda self: self.head > 40)
    @rule()
    def lose_pairs(self) -> None:
        self.lost_pairs = True
        limits = RetentionLimits(pairs_before=T0 + 10_000)
        while self.run(self.store.trim_step(limits)):
            pass

    @rule()
    def restart(self) -> None:
        self.run(self.store.aclose())
        self.run(self.store.open())

    # reading ------------------------------------------------------------------------------
    @rule(view=VIEW, share=st.floats(0, 1), cut=st.none() | st.floats(0, 1), bytes_max=BYTES)
    def read_from_anywhere(
        self, view: View, share: float, cut: float | None, bytes_max: int
    ) -> None:
        after = round(share * self.head)
        up_to = None if cut is None else after + round(cut * (self.head - after))
        reader = Reader(view)
        reader.state = self.known[view][after].at(after, "conv_1")
        if self.read_on(reader, bytes_max, up_to=up_to):
            end = self.head if up_to is None else up_to
            assert same(reader.state, self.known[view][end])

    @rule(which=st.integers(0, 1), bytes_max=BYTES)
    def read_a_page(self, which: int, bytes_max: int) -> None:
        self.read_on(self.readers[which], bytes_max, pages=1)

    def read_on(
        self, reader: Reader, bytes_max: int, *, up_to: int | None = None, pages: int = 100_000
    ) -> bool:
        """Read pages; a reader without a way on gets the newest state. False for one without end."""
        for _ in range(pages):
            after = reader.state.seq
            try:
                page = self.run(
                    self.store.read_frames(
                        "conv_1", after, view=reader.view, bytes_max=bytes_max, up_to=up_to
                    )
                )
            except StoreError as error:
                self.check_refusal(error.code, after)
                if up_to is not None:
                    return False
                reader.state = self.known[reader.view][-1].at(self.head, "conv_1")
                continue
            events = decode_frames(page.frames)
            assert all(after < event["seq"] <= page.last_seq for event in events)
            assert up_to is None or page.last_seq <= max(up_to, after)
            reader.state = fold(events, reader.state).at(page.last_seq, "conv_1")
            if page.at_end:
                return True
        return False

    def check_refusal(self, code: str, after: int) -> None:
        if code == "cursor_expired":
            assert after < self.run(self.store.log_start("conv_1"))
        else:
            assert code == "cursor_inside_delta"
            assert self.lost_pairs


TestMergeMachine = MergeMachine.TestCase
TestMergeMachine.settings = settings(
    # Each example is a whole story.
    max_examples=settings().max_examples // 2,
    stateful_step_count=60,
    deadline=None,
)
