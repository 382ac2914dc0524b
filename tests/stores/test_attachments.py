"""Attachments in the file: any order of changes, any moment of death, any damage."""

import asyncio
import itertools
import sqlite3
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from blockwire.content import View
from blockwire.errors import BlockwireError, StoreError
from blockwire.ports import AttachmentQuota, AttachmentRow, Store
from blockwire.stores import MemoryStore, SqliteStore, check_store
from blockwire.stores.sqlite.filing import Upload
from blockwire.stores.sqlite.ledger import Ledger
from blockwire.testing.store_contract import name_attachments, put_attachment, refuses
from blockwire.testing.store_script import T0, new_conversation
from tests.stores.support import assert_killed, change, opened, run_script

pytestmark = pytest.mark.anyio

VIEWS: tuple[View, ...] = ("owner", "public")
CONVERSATIONS = st.sampled_from(["conv_1", "conv_2", "conv_3"])
FILES = [f"att_{number}" for number in range(5)]
IDS = st.sampled_from(FILES)
CONTENTS = {
    "empty": b"",
    "small": b"small",
    "other": b"other",
    "two chunks": bytes(300_000),
    "three chunks": bytes(range(256)) * 2100,
}


class AttachmentMachine(RuleBasedStateMachine):
    """Upload, name, fork, delete, collect in any order, in both stores: the same comes of it."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.memory = MemoryStore()
        self.sqlite = SqliteStore(Path(self.folder.name) / "store.sqlite3", synchronous="NORMAL")
        self.both(lambda store: store.open())
        self.message_count = 0

    def teardown(self) -> None:
        self.both(lambda store: store.aclose())
        self.runner.close()
        self.folder.cleanup()

    def both(self, call: Callable[[Store], Awaitable[Any]]) -> Any:
        results = [
            self.runner.run(self.outcome(call, store)) for store in (self.memory, self.sqlite)
        ]
        assert results[0] == results[1]
        return results[0]

    async def outcome(self, call: Callable[[Store], Awaitable[Any]], store: Store) -> Any:
        try:
            return await call(store)
        except BlockwireError as error:
            return error.code

    @rule(name=CONVERSATIONS, tenant=st.sampled_from([None, "t1"]))
    def create(self, name: str, tenant: str | None) -> None:
        self.both(lambda store: store.create_conversation(new_conversation(name, tenant=tenant)))

    @rule(
        name=CONVERSATIONS,
        attachment_id=IDS,
        content=st.sampled_from(sorted(CONTENTS)),
        created_at=st.integers(T0, T0 + 3),
        size_bytes_max=st.sampled_from([100, 10**7]),
        quota=st.sampled_from([None, (400_000, None), (None, 500_000), (10**7, 10**7)]),
    )
    def upload(
        self,
        name: str,
        attachment_id: str,
        content: str,
        created_at: int,
        size_bytes_max: int,
        quota: tuple[int | None, int | None] | None,
    ) -> None:
        bounds = None
        if quota is not None:
            bounds = AttachmentQuota(tenant_bytes=quota[0], total_bytes=quota[1])
        self.both(
            lambda store: put_attachment(
                store,
                attachment_id,
                CONTENTS[content],
                conversation_id=name,
                created_at=created_at,
                size_bytes_max=size_bytes_max,
                quota=bounds,
            )
        )

    @rule(
        name=CONVERSATIONS,
        ids=st.lists(IDS, min_size=1, max_size=3),
        role=st.sampled_from(["user", "system"]),
    )
    def name(self, name: str, ids: list[str], role: str) -> None:
        self.message_count += 1
        message_id = f"msg_{self.message_count}"
        self.both(
            lambda store: name_attachments(store, message_id, *ids, conversation_id=name, role=role)
        )

    @rule(source=CONVERSATIONS, into=CONVERSATIONS)
    def fork(self, source: str, into: str) -> None:
        async def held(store: Store) -> list[str]:
            return [row.id for row in await store.list_attachments(source)]

        ids = self.both(held)
        if ids:
            self.name(into, ids, "user")

    @rule(name=CONVERSATIONS)
    def delete(self, name: str) -> None:
        self.both(lambda store: store.delete_conversation(name))

    @rule(created_before=st.integers(T0, T0 + 4), limit=st.integers(0, 3))
    def collect(self, created_before: int, limit: int) -> None:
        self.both(
            lambda store: store.collect_attachments(created_before=created_before, limit=limit)
        )

    @rule()
    def restart(self) -> None:
        self.runner.run(self.sqlite.aclose())
        self.runner.run(self.sqlite.open())

    async def content(self, store: Store, row: AttachmentRow) -> int:
        data = await store.read_attachment(row.id, offset=1, bytes_max=row.size_bytes)
        assert len(data) == max(row.size_bytes - 1, 0)
        return hash(data)

    @invariant()
    def both_have_the_same(self) -> None:
        async def everything(store: Store) -> list[Any]:
            parts = [await store.list_attachments(name) for name in ("conv_1", "conv_2", "conv_3")]
            seen = [
                await store.load_attachment(name, view=view, conversation_id=where)
                for name in FILES
                for view in VIEWS
                for where in (None, "conv_1")
            ]
            holders = [await store.list_holders(name) for name in FILES]
            usages = [await store.measure_attachments(tenant) for tenant in (None, "t1")]
            contents = [await self.content(store, row) for part in parts for row in part]
            return [usages, parts, seen, holders, contents, await store.check()]

        found = self.both(everything)
        assert found[-1] == []
        # What is there is held, and its content is there once.
        total_bytes = found[0][0].total_bytes
        rows = {row.sha256: row for part in found[1] for row in part}
        assert total_bytes == sum(row.size_bytes for row in rows.values())


TestAttachmentMachine = AttachmentMachine.TestCase
TestAttachmentMachine.settings = settings(
    max_examples=settings().max_examples // 5, stateful_step_count=15, deadline=None
)
TestAttachmentMachine = pytest.mark.requirement(
    "attachments:hold:deleted", "attachments:hold:orphans", "attachments:store:check"
)(TestAttachmentMachine)


# Uploads, names, forks, deletes and collects; prints what was acknowledged.
WORK = """
    import asyncio, os, random, signal, sys
    from blockwire.errors import StoreError
    from blockwire.stores import SqliteStore
    from blockwire.testing.store_contract import name_attachments, put_attachment
    from blockwire.testing.store_script import T0, new_conversation

    class Kill:
        def __init__(self, point, times):
            self.point, self.times = point, times
        def reach(self, point):
            if point == self.point:
                self.times -= 1
                if self.times == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

    async def main(path, point, times):
        choose = random.Random(int(times))
        store = SqliteStore(path, faults=Kill(point, int(times)), synchronous="NORMAL")
        await store.open()
        await store.create_conversation(new_conversation("conv_kept"))

        async def work(name):
            count = 0
            while True:
                count += 1
                conversation = f"conv_{name}_{count}"
                kept, lost = f"att_{name}_{count}", f"att_{name}_{count}_lost"
                await store.create_conversation(new_conversation(conversation))
                content = choose.choice([b"same" * 200_000, os.urandom(600_000)])
                await put_attachment(store, kept, content, conversation_id=conversation)
                await put_attachment(
                    store, lost, content[::-1], conversation_id=conversation, created_at=T0 - 9
                )
                await name_attachments(store, "msg_1", kept, conversation_id=conversation)
                await name_attachments(store, f"msg_{kept}", kept, conversation_id="conv_kept")
                print("kept", kept, flush=True)
                await store.collect_attachments(created_before=T0, limit=1)
                await store.delete_conversation(conversation)
                print("gone", lost, flush=True)

        async with asyncio.TaskGroup() as group:
            for name in "ab":
                group.create_task(work(name))

    asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("point", ["commit.before", "commit.after"])
@pytest.mark.parametrize("times", [4, 9, 14, 19, 33, 50])
@pytest.mark.requirement("attachments:store:killed")
async def test_a_killed_store_has_what_it_acknowledged_and_no_parts(
    tmp_path: Path, point: str, times: int
) -> None:
    path = tmp_path / "store.sqlite3"

    ended = run_script(WORK, path, point, times)

    assert_killed(ended)
    lines = [line.split() for line in ended.stdout.splitlines()]
    assert check_store(path) == []
    async with SqliteStore(path) as store:
        for word, name in lines:
            assert (await store.load_attachment(name) is not None) is (word == "kept")
        await store.purge_attachments()
        assert staged_count(path) == 0
        assert await store.check() == []
        assert (await store.measure_attachments(None)).total_bytes == sealed_bytes(path)


def staged_count(path: Path) -> int:
    with opened(path) as connection:
        count: int = connection.execute(
            "SELECT count(*) FROM blobs WHERE sha256 IS NULL"
        ).fetchone()[0]
        return count


def sealed_bytes(path: Path) -> int:
    with opened(path) as connection:
        total: int = connection.execute(
            "SELECT coalesce(sum(length(data)), 0) FROM blob_chunks"
        ).fetchone()[0]
        return total


async def endless(started: anyio.Event) -> AsyncGenerator[bytes, None]:
    while True:
        yield bytes(300_000)
        started.set()


@pytest.mark.requirement("attachments:upload:cut")
async def test_of_a_cancelled_upload_nothing_remains(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path, synchronous="NORMAL") as store:
        await store.create_conversation(new_conversation())
        started = anyio.Event()
        async with anyio.create_task_group() as group:

            async def upload() -> None:
                await store.write_attachment(
                    "conv_1",
                    attachment_id="att_1",
                    name="a",
                    media_type=None,
                    created_at=T0,
                    chunks=endless(started),
                    size_bytes_max=10**9,
                )

            group.start_soon(upload)
            await started.wait()
            group.cancel_scope.cancel()
        # Which the writer does by itself when it has nothing else to do.
        await store.purge_attachments()
        assert staged_count(path) == 0

        assert sealed_bytes(path) == 0
        assert await store.check() == []


async def test_a_store_that_is_closed_in_an_upload_forgets_it_at_the_next_start(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.sqlite3"
    store = SqliteStore(path, synchronous="NORMAL")
    await store.open()
    await store.create_conversation(new_conversation())

    async def closing() -> AsyncGenerator[bytes, None]:
        yield bytes(600_000)
        await store.aclose()
        yield bytes(600_000)

    with refuses("store_closed"):
        await store.write_attachment(
            "conv_1",
            attachment_id="att_1",
            name="a",
            media_type=None,
            created_at=T0,
            chunks=closing(),
            size_bytes_max=10**9,
        )
    assert staged_count(path) == 1
    assert check_store(path) == []

    async with store:
        await store.purge_attachments()
        assert staged_count(path) == 0
        assert await store.check() == []


@pytest.mark.requirement("attachments:upload:turns")
async def test_a_commit_takes_one_chunk_of_an_upload(tmp_path: Path) -> None:
    sizes: list[int] = []

    class Watch:
        """Notes what lies in the file at every commit."""

        def reach(self, point: str) -> None:
            if point == "commit.before":
                sizes.append(sealed_bytes(path))

    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path, synchronous="NORMAL", faults=Watch()) as store:
        await store.create_conversation(new_conversation())
        await put_attachment(store, "att_1", bytes(3_000_000))

    assert max(b - a for a, b in itertools.pairwise(sizes)) == 262_144


@pytest.mark.requirement("attachments:store:purged")
async def test_a_commit_removes_a_few_chunks_and_all_are_gone_in_the_end(tmp_path: Path) -> None:
    sizes: list[int] = []

    class Watch:
        def reach(self, point: str) -> None:
            if point == "commit.before":
                sizes.append(sealed_bytes(path))

    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path, synchronous="NORMAL", faults=Watch()) as store:
        await store.create_conversation(new_conversation())
        await put_attachment(store, "att_1", bytes(10_000_000))
        sizes.clear()

        await store.delete_conversation("conv_1")

        assert sealed_bytes(path) == 0
    assert sizes[0] == max(sizes) == 10_000_000
    assert max(a - b for a, b in itertools.pairwise(sizes)) <= 16 * 262_144


def assert_absent(folder: Path, *texts: bytes) -> None:
    for file in folder.iterdir():
        data = file.read_bytes()
        for text in texts:
            assert text not in data


@pytest.mark.requirement("attachments:hold:deleted")
async def test_no_byte_of_a_deleted_attachment_is_left_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    canary = b"canary-in-an-attachment-"
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation())
        await put_attachment(store, "att_1", canary * 40_000, name="canary-name.txt")
        await name_attachments(store, "msg_1", "att_1")

        await store.delete_conversation("conv_1")

        assert_absent(tmp_path, canary, b"canary-name")


@pytest.mark.requirement("attachments:hold:race")
async def test_naming_and_collecting_exclude_each_other(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "store.sqlite3", synchronous="NORMAL") as store:
        await store.create_conversation(new_conversation())
        for number in range(30):
            name = f"att_{number}"
            await put_attachment(store, name)
            async with anyio.create_task_group() as group:
                calls: list[Callable[[], Coroutine[Any, Any, Any]]] = [
                    partial(name_attachments, store, f"msg_{name}", name),
                    partial(store.collect_attachments, created_before=T0 + 1, limit=5),
                ]
                for call in calls[:: 1 if number % 2 else -1]:
                    group.start_soon(call)

            row = await store.load_attachment(name)
            is_public = await store.load_attachment(name, view="public") is not None
            # Either it is there and held, or it is gone.
            assert (row is not None) == is_public
        assert await store.check() == []


DAMAGES = {
    "chunk gone": ("DELETE FROM blob_chunks WHERE chunk_no = 1", "blob_differs"),
    "end gone": ("DELETE FROM blob_chunks WHERE chunk_no = 2", "blob_differs"),
    "chunk cut": ("UPDATE blob_chunks SET data = x'00' WHERE chunk_no = 1", "blob_differs"),
    "bit turned": (
        "UPDATE blob_chunks SET data = zeroblob(262144) WHERE chunk_no = 1",
        "blob_differs",
    ),
    "hash": (f"UPDATE blobs SET sha256 = '{'0' * 64}'", "blob_differs"),
    "size": ("UPDATE attachments SET size_bytes = 5", "attachment_differs"),
    "name": ("UPDATE attachments SET is_named = 1", "attachment_differs"),
    "home": ("UPDATE attachments SET conversation_no = NULL", "attachment_orphan"),
    "usage": ("UPDATE attachment_usage SET size_bytes = 1", "attachment_usage"),
    "row": ("DELETE FROM attachments", "blob_orphan"),
}


@pytest.mark.requirement("attachments:store:check")
@pytest.mark.parametrize("damage", sorted(DAMAGES))
async def test_a_check_finds_what_is_damaged(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation())
        await put_attachment(store, "att_1", b"x" * 600_000)
    statement, code = DAMAGES[damage]

    change(path, statement)

    assert code in [problem.code for problem in check_store(path)]


async def test_what_is_damaged_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation())
        await put_attachment(store, "att_1", b"x" * 600_000)
        change(path, "DELETE FROM blob_chunks WHERE chunk_no = 1")

        with refuses("store_corrupt"):
            await store.read_attachment("att_1", offset=0, bytes_max=600_000)


async def test_a_store_that_cannot_purge_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Full:
        """Fails the commits of purging, which nobody waits for."""

        is_armed = False

        def reach(self, point: str) -> None:
            if point == "commit.before" and self.is_armed:
                raise sqlite3.OperationalError("test")

    faults = Full()
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path, synchronous="NORMAL", faults=faults) as store:
        await store.create_conversation(new_conversation())
        await put_attachment(store, "att_1", bytes(300_000))
        faults.is_armed = True
        with pytest.raises(BlockwireError):
            await store.delete_conversation("conv_1")
        faults.is_armed = False

        assert await store.delete_conversation("conv_1") is True
        assert staged_count(path) == 0
        assert await store.check() == []
    assert "canary" not in caplog.text


@pytest.mark.parametrize("step", ["begin", "finish"])
@pytest.mark.requirement("attachments:upload:cut")
async def test_an_upload_whose_commit_failed_takes_nothing_from_the_next(
    tmp_path: Path, step: str
) -> None:
    """What a transaction that was rolled back got has numbers that others get after it."""
    content = CONTENTS["three chunks"]
    failed = Upload("conv_1", AttachmentQuota())
    row = AttachmentRow(
        id="att_1", name="a", media_type="a/b", size_bytes=0, sha256="0" * 64, created_at=T0
    )

    def fail(ledger: Ledger) -> None:
        ledger.filing.begin(failed, "att_1")
        if step == "finish":
            ledger.filing.finish(failed, row)
        raise RuntimeError

    async with SqliteStore(tmp_path / "store.sqlite3") as store:
        await store.create_conversation(new_conversation())
        writer = store._writer
        assert writer is not None
        with pytest.raises(StoreError):
            await writer.perform(fail)

        async def chunks() -> AsyncGenerator[bytes, None]:
            yield content[:300_000]
            await writer.perform(lambda ledger: ledger.filing.discard(failed))
            await store.purge_attachments()
            yield content[300_000:]

        await store.write_attachment(
            "conv_1",
            attachment_id="att_2",
            name="b",
            media_type=None,
            created_at=T0,
            chunks=chunks(),
            size_bytes_max=len(content),
        )
        await writer.perform(lambda ledger: ledger.filing.discard(failed))

        assert await store.read_attachment("att_2", offset=0, bytes_max=1) == content[:1]
        assert await store.check() == []
