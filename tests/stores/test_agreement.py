"""MemoryStore and SqliteStore agree, whatever is done to them in whatever order."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from blockwire.errors import BlockwireError
from blockwire.jsontext import encode_json
from blockwire.ports import Append, Draft, Store
from blockwire.stores import MemoryStore, SqliteStore
from blockwire.testing.store_script import T0, make_question, make_turn, new_conversation

CONVERSATIONS = st.sampled_from(["conv_1", "conv_2", "conv_3"])
TURNS = st.sampled_from(["turn_1", "turn_2"])
TEXTS = st.text(max_size=20) | st.sampled_from(["\x00", "\n\n", "id: 1\n\n", '"seq":1'])
SHOWN = st.lists(st.tuples(TEXTS, st.sampled_from(["both", "owner", "differs"])), max_size=6)
VIEWS = st.sampled_from(["owner", "public"])


def drafts(shown: list[tuple[str, str]]) -> list[Draft]:
    made = []
    for text, how in shown:
        owner = encode_json({"type": "test.said", "text": text})
        public = {"both": owner, "owner": None, "differs": b'{"type":"test.said"}'}[how]
        made.append(Draft("test.said", owner, public))
    return made


class StoreComparison(RuleBasedStateMachine):
    """Every call goes to both; what comes back, also a refusal, is the same."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.memory = MemoryStore()
        self.sqlite = SqliteStore(Path(self.folder.name) / "store.sqlite3", synchronous="NORMAL")
        self.both(lambda store: store.open())
        self.message_count = 0

    def teardown(self) -> None:
        assert self.both(lambda store: store.check(), compare=False) is not None
        self.both(lambda store: store.aclose())
        self.runner.close()
        self.folder.cleanup()

    def both(self, call: Callable[[Store], Awaitable[Any]], *, compare: bool = True) -> Any:
        results = [self.runner.run(self.outcome(call, store)) for store in self.stores()]
        if compare:
            assert results[0] == results[1]
        return results[0]

    def stores(self) -> list[Store]:
        return [self.memory, self.sqlite]

    async def outcome(self, call: Callable[[Store], Awaitable[Any]], store: Store) -> Any:
        try:
            return await call(store)
        except BlockwireError as error:
            return error.code

    @rule(name=CONVERSATIONS, tenant=st.sampled_from([None, "t1"]), created_at=st.integers(0, 3))
    def create(self, name: str, tenant: str | None, created_at: int) -> None:
        row = new_conversation(name, created_at, tenant=tenant)
        self.both(lambda store: store.create_conversation(row))

    @rule(name=CONVERSATIONS, title=st.none() | TEXTS)
    def update(self, name: str, title: str | None) -> None:
        row = new_conversation(name, title=title)
        self.both(lambda store: store.update_conversation(row))

    @rule(name=CONVERSATIONS)
    def delete(self, name: str) -> None:
        self.both(lambda store: store.delete_conversation(name))

    @rule(name=CONVERSATIONS, shown=SHOWN, ts=st.integers(T0, T0 + 5), times=st.integers(1, 30))
    def append(self, name: str, shown: list[tuple[str, str]], ts: int, times: int) -> None:
        change = Append(conversation_id=name, drafts=drafts(shown), ts=ts)
        for _ in range(times):
            self.both(lambda store: store.append(change))

    @rule(
        name=CONVERSATIONS,
        turn_id=TURNS,
        shown=SHOWN,
        status=st.sampled_from(["running", "suspended", "completed"]),
        key=st.sampled_from([None, "k1", "k2"]),
        epochs=st.tuples(st.integers(1, 2), st.sampled_from([None, 1, 2])),
        new_turn=st.booleans(),
    )
    def write_turn(
        self,
        name: str,
        turn_id: str,
        shown: list[tuple[str, str]],
        status: str,
        key: str | None,
        epochs: tuple[int, int | None],
        new_turn: bool,
    ) -> None:
        epoch, expected = epochs
        change = Append(
            conversation_id=name,
            drafts=drafts(shown),
            ts=T0,
            turn=make_turn(turn_id, name, status=status, idempotency_key=key, epoch=epoch),
            new_turn=new_turn,
            expected_epoch=expected,
        )
        self.both(lambda store: store.append(change))

    @rule(name=CONVERSATIONS, text=TEXTS, repeats=st.booleans())
    def finish_message(self, name: str, text: str, repeats: bool) -> None:
        self.message_count += not repeats
        message = make_question(f"msg_{self.message_count}", text)
        change = Append(
            conversation_id=name,
            drafts=drafts([(text, "both")]),
            ts=T0,
            finished=[(message, 0)],
        )
        self.both(lambda store: store.append(change))

    @rule(
        name=CONVERSATIONS,
        view=VIEWS,
        after=st.integers(-1, 120),
        up_to=st.none() | st.integers(0, 120),
        bytes_max=st.sampled_from([0, 200, 1000, 100_000]),
    )
    def read(self, name: str, view: Any, after: int, up_to: int | None, bytes_max: int) -> None:
        async def pages(store: Store) -> tuple[object, ...]:
            # Where a page ends is the business of each store, within its bounds.
            frames, count, at = b"", 0, after
            while True:
                page = await store.read_frames(
                    name, at, view=view, bytes_max=bytes_max, up_to=up_to
                )
                assert page.count <= 1 or len(page.frames) <= bytes_max
                frames, count, at = frames + page.frames, count + page.count, page.last_seq
                if page.at_end:
                    return frames, count, at
                assert page.count, "a page that is not the last brings something"

        self.both(pages)

    @rule(
        name=CONVERSATIONS,
        before=st.none() | st.integers(0, 60),
        after=st.none() | st.integers(0, 60),
        up_to=st.none() | st.integers(0, 60),
        sizes=st.sampled_from([(1, 1000), (3, 0), (3, 400), (100, 10_000)]),
    )
    def list_messages(
        self,
        name: str,
        before: int | None,
        after: int | None,
        up_to: int | None,
        sizes: tuple[int, int],
    ) -> None:
        limit, bytes_max = sizes
        self.both(
            lambda store: store.list_messages(
                name,
                before_seq=before,
                after_seq=after,
                up_to_seq=up_to,
                limit=limit,
                bytes_max=bytes_max,
            )
        )

    @rule(name=CONVERSATIONS, turn_id=TURNS, limit=st.integers(0, 3))
    def look(self, name: str, turn_id: str, limit: int) -> None:
        self.both(lambda store: store.load_conversation(name))
        self.both(lambda store: store.load_turn(name, turn_id))
        self.both(lambda store: store.find_turn_by_key(name, "k1"))
        self.both(lambda store: store.load_message(name, "msg_1"))
        self.both(_sorted_unfinished)
        for tenant in (None, "t1"):
            self.both(partial(_all_conversations, tenant=tenant, limit=limit))
        self.both(lambda store: _all_turns(store, name, limit))

    @precondition(lambda self: self.message_count > 0)
    @rule()
    def restart_sqlite(self) -> None:
        self.runner.run(self.sqlite.aclose())
        self.runner.run(self.sqlite.open())


async def _sorted_unfinished(store: Store) -> list[tuple[str, str]]:
    turns = await store.list_unfinished_turns()
    return sorted((turn.conversation_id, turn.id) for turn in turns)


async def _all_conversations(store: Store, *, tenant: str | None, limit: int) -> list[Any]:
    """Pages, without their cursors, which each store makes in its own way."""
    pages: list[Any] = []
    cursor = None
    while True:
        page = await store.list_conversations(tenant=tenant, cursor=cursor, limit=limit)
        pages.append(list(page.items))
        cursor = page.next_cursor
        if cursor is None:
            return pages


async def _all_turns(store: Store, name: str, limit: int) -> list[Any]:
    pages: list[Any] = []
    cursor = None
    while True:
        page = await store.list_turns(name, cursor=cursor, limit=limit)
        pages.append([msgspec.to_builtins(turn) for turn in page.items])
        cursor = page.next_cursor
        if cursor is None:
            return pages


TestStoreComparison = StoreComparison.TestCase
TestStoreComparison.settings = settings(
    # Each example is a whole story: a fifth of what a plain property gets.
    max_examples=settings().max_examples // 5,
    stateful_step_count=25,
    deadline=None,
)
