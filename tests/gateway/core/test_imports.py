"""Imports: an archive becomes equal conversations, all of them or none, and none twice."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blockwire.archives import ArchiveError, ArchiveWriter
from blockwire.content import Message
from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.gateway.imports import conversation as incoming
from blockwire.gateway.imports import importer
from blockwire.gateway.settings import GatewaySettings
from blockwire.jsontext import Json, encode_json, equal_json
from blockwire.ports import Append, Appended
from blockwire.stores import MemoryStore, SqliteStore
from blockwire.testing.strategies import messages
from tests.archives.samples import (
    ANSWER,
    CONTENT,
    CONVERSATION,
    QUESTION,
    archive_lines,
    conversation_lines,
)
from tests.gateway.core.conftest import OpenStore
from tests.gateway.core.test_exports import message
from tests.gateway.core.world import CountingIds, World, gateway
from tests.support.transfers import (
    archived_messages,
    exported,
    exported_json,
    imported,
    imported_ids,
)

pytestmark = pytest.mark.anyio

WHOLE = b"".join(archive_lines())


def archive_of(*some: Message, **members: Json) -> bytes:
    writer = ArchiveWriter()
    conversation = {**CONVERSATION, **members}
    lines = [writer.start(created_at=1, generator="g", view="owner")]
    lines.append(writer.start_conversation(conversation))
    lines += [writer.add_message(one) for one in some]
    return b"".join([*lines, writer.end_conversation(), writer.end()])


async def listed(world: World) -> list[Any]:
    page: Any = await world.service.list_conversations(cursor=None, limit=50, tenant=None)
    return [conversation["id"] for conversation in page["items"]]


async def assert_nothing_is_left(world: World) -> None:
    assert await listed(world) == []
    assert list(await world.service.store.check()) == []
    # A store removes contents when it has nothing better to do.
    with anyio.fail_after(15):
        while (await world.service.store.measure_attachments(None)).total_bytes:
            await anyio.lowlevel.checkpoint()


@pytest.mark.requirement("gateway:import:equal")
async def test_an_import_of_an_export_is_equal(open_store: OpenStore) -> None:
    async with gateway(store=open_store()) as world:
        (first,) = await imported_ids(world.service, WHOLE)
        archive = await exported(world.service, first)
        (second,) = await imported_ids(world.service, archive)
        again = await exported(world.service, second)

        documents = [await exported_json(world.service, one, "owner") for one in (first, second)]
        attachments = [await world.service.store.list_attachments(one) for one in (first, second)]
        content = await world.service.store.read_attachment("att_1", offset=0, bytes_max=10**6)

    assert encode_json(archived_messages(archive)) == encode_json([QUESTION, ANSWER])  # type: ignore[arg-type]
    assert encode_json(archived_messages(again)) == encode_json([QUESTION, ANSWER])  # type: ignore[arg-type]
    for document in documents:
        assert equal_json(document["messages"], [QUESTION, ANSWER])
        assert document["conversation"]["title"] == "Coins"
        assert document["conversation"]["tags"] == ["maths"]
        assert document["conversation"]["created_at"] == 9
    assert content == CONTENT
    # The same bytes under the same id are one attachment; nothing of the second names it.
    assert [row.id for rows in attachments for row in rows] == ["att_1"]


@given(st.lists(messages(), max_size=5, unique_by=lambda one: str(one["id"])))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@pytest.mark.requirement("gateway:import:equal")
async def test_any_messages_survive_export_and_import(some: list[Message]) -> None:
    async with gateway() as world:
        (first,) = await imported_ids(world.service, archive_of(*some))
        archive = await exported(world.service, first)
        (second,) = await imported_ids(world.service, archive)
        documents = [await exported_json(world.service, one, "owner") for one in (first, second)]

    # Messages of errors lose their credentials at the first door, and nothing at the second.
    assert equal_json(documents[0]["messages"], documents[1]["messages"])
    assert len(documents[0]["messages"]) == len(some)


async def test_what_is_imported_is_there_after_a_restart_and_in_order(
    open_store: OpenStore,
) -> None:
    some = [message(n, f"text {n}") for n in range(700)]
    async with gateway(store=open_store()) as world:
        (conversation_id,) = await imported_ids(world.service, archive_of(*some))
    async with gateway(store=open_store(), ids=CountingIds(5000)) as world:
        document = await exported_json(world.service, conversation_id, "owner")
        assert list(await world.service.store.check()) == []
        turn = await world.ask(conversation_id, "Go on")

    assert equal_json(document["messages"], some)  # type: ignore[arg-type]
    assert turn["status"] == "completed"


@pytest.mark.requirement("gateway:import:several")
async def test_several_conversations_keep_their_order_and_age() -> None:
    writer = ArchiveWriter()
    lines = [writer.start(created_at=1, generator="g", view="owner")]
    for number in (3, 2, 1):
        head: dict[str, Json] = {"id": f"conv_{number}", "created_at": number, "tags": []}
        lines += conversation_lines(writer, (), b"", conversation=head)
    async with gateway() as world:
        result: Any = await imported(world.service, b"".join([*lines, writer.end()]))
        ids = await listed(world)

    found = result.shape["conversations"]
    assert [one["source_id"] for one in found] == ["conv_3", "conv_2", "conv_1"]
    assert [one["id"] for one in found] == ids
    assert found[0] == {
        "id": found[0]["id"],
        "source_id": "conv_3",
        "message_count": 0,
        "attachment_count": 1,
        "turns_dropped": 1,
        "attachments_renamed": 0,
        "attachments_missing": 0,
    }


@pytest.mark.case("P07")
@pytest.mark.requirement("gateway:import:all-or-nothing")
async def test_what_is_not_whole_leaves_nothing(open_store: OpenStore) -> None:
    lines = archive_lines(2)
    broken = [b"".join(lines[:count]) for count in range(len(lines))]
    broken += [WHOLE.replace(b"Three weighings", b"Four weighings"), WHOLE + WHOLE]
    async with gateway(store=open_store()) as world:
        for data in broken:
            with pytest.raises(ArchiveError):
                await imported(world.service, data)
            await assert_nothing_is_left(world)


@pytest.mark.requirement("gateway:import:all-or-nothing")
async def test_nobody_sees_a_part(open_store: OpenStore) -> None:
    gate = anyio.Event()

    async def held() -> Any:
        yield WHOLE[:-200]
        await gate.wait()
        yield WHOLE[-200:]

    async with gateway(store=open_store()) as world, anyio.create_task_group() as tasks:

        async def run() -> None:
            await world.service.import_archive(held(), idempotency_key=None, tenant=None)

        tasks.start_soon(run)
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
            assert await listed(world) == []
        gate.set()
        with anyio.fail_after(15):
            while not await listed(world):
                await anyio.lowlevel.checkpoint()


class TornStore(MemoryStore):
    """Loses power at the n-th append: neither that nor what comes after it happens."""

    def __init__(self, appends: int) -> None:
        super().__init__()
        self.left = appends

    async def append(self, change: Append) -> Appended:
        self.left -= 1
        if self.left < 0:
            raise StoreError("store_full", "no room")
        return await super().append(change)

    async def delete_conversation(self, conversation_id: str) -> bool:
        if self.left < 0:
            raise StoreError("store_full", "no room")
        return await super().delete_conversation(conversation_id)


@pytest.mark.parametrize("appends", [0, 1, 2])
@pytest.mark.requirement("gateway:import:all-or-nothing")
async def test_an_import_that_was_torn_is_gone_after_the_next_start(
    appends: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(incoming, "BATCH_MESSAGES", 2)
    store = TornStore(appends)
    async with gateway(store=store) as world:
        with pytest.raises(StoreError, match="store_full"):
            await imported(world.service, archive_of(*(message(n, "x") for n in range(6))))
        assert await listed(world) == []
        assert "a part of an import stays hidden" in caplog.text
    store.left = 100
    async with gateway(store=store, ids=CountingIds(100)) as world:
        await assert_nothing_is_left(world)
        assert not store._conversations


async def test_a_killed_import_is_gone_after_the_next_start(tmp_path: Any) -> None:
    store = SqliteStore(tmp_path / "store.db")
    async with gateway(store=store) as world:
        never = anyio.Event()

        async def cut() -> Any:
            yield WHOLE[:-300]
            await never.wait()

        with anyio.move_on_after(0.5):
            # As a killed process: nobody deletes what was stored.
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(importer.Importer, "give_up", _do_nothing)
                await world.service.import_archive(cut(), idempotency_key=None, tenant=None)
    async with gateway(store=SqliteStore(tmp_path / "store.db"), ids=CountingIds(100)) as world:
        await assert_nothing_is_left(world)


async def _do_nothing(_self: Any) -> None:
    return


# keys --------------------------------------------------------------------------------------
@pytest.mark.requirement("gateway:import:key")
async def test_the_same_key_and_content_import_once(open_store: OpenStore) -> None:
    other_time = WHOLE.split(b"\n", 1)
    writer = ArchiveWriter()
    later = writer.start(created_at=999, generator="another 2", view="owner")
    later += b"".join(writer.copy(line, is_end=b'"conversation.completed"' in line) for line in
                      other_time[1].splitlines()[:-1]) + writer.end()  # fmt: skip
    async with gateway(store=open_store()) as world:
        first = await imported(world.service, WHOLE, key="k")
        repeated = await imported(world.service, WHOLE, key="k")
        rewritten = await imported(world.service, later, key="k")
        count = len(await listed(world))
        with pytest.raises(RemoteProtocolError, match="idempotency_key_reused"):
            await imported(world.service, archive_of(QUESTION), key="k")
        with pytest.raises(ArchiveError, match="archive_truncated"):
            await imported(world.service, WHOLE[:-50], key="k")
        with pytest.raises(RemoteProtocolError, match="invalid_idempotency_key"):
            await imported(world.service, WHOLE, key=" ")
        other_tenant = await imported(world.service, WHOLE, key="k", tenant="t1")
    async with gateway(store=open_store(), ids=CountingIds(100)) as world:
        after = await imported(world.service, WHOLE, key="k")
        (gone,) = (one["id"] for one in first.shape["conversations"])  # type: ignore[union-attr, index, call-overload]
        await world.service.delete_conversation(str(gone), None)
        anew = await imported(world.service, WHOLE, key="k")

    assert [one.is_new for one in (first, repeated, rewritten, after)] == [
        True,
        False,
        False,
        False,
    ]
    assert first.shape == repeated.shape == rewritten.shape == after.shape
    assert count == 1
    assert other_tenant.is_new
    assert anew.is_new


async def test_two_imports_of_one_key_at_the_same_time_make_one(open_store: OpenStore) -> None:
    async with gateway(store=open_store()) as world:
        results: list[Any] = []

        async def run() -> None:
            results.append(await imported(world.service, WHOLE, key="k"))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(run)
        ids = await listed(world)

    assert len(ids) == 1
    assert sorted(result.is_new for result in results) == [False, False, True]
    assert {result.shape["conversations"][0]["id"] for result in results} == set(ids)


# attachments -------------------------------------------------------------------------------
NAMING: Message = {
    **QUESTION,
    "id": "msg_9",
    "content": [
        {"id": "b1", "type": "attachment", "attachment_id": "att_1", "name": "plan.png",
         "media_type": "image/png"},
        {"id": "b2", "type": "tool", "tool": "draw", "status": "completed",
         "attachments": ["att_1", "att_other"]},
        {"id": "b3", "type": "prose", "markdown": "att_1"},
    ],
}  # fmt: skip


def with_attachment(*some: Message, content: bytes = CONTENT, is_last: bool = False) -> bytes:
    writer = ArchiveWriter()
    lines = [writer.start(created_at=1, generator="g", view="owner")]
    head, *rest = conversation_lines(writer, some, content)
    if is_last:
        writer = ArchiveWriter()
        lines = [writer.start(created_at=1, generator="g", view="owner")]
        lines.append(writer.start_conversation(CONVERSATION))
        lines += [writer.add_message(one) for one in some]
        lines += [writer.copy(line[:-1], is_end=False) for line in rest if b"attachment." in line]
        writer._counts["attachment_count"] = 1
        return b"".join([*lines, writer.end_conversation(), writer.end()])
    return b"".join([*lines, head, *rest, writer.end()])


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.requirement("gateway:import:attachments")
async def test_attachments_are_held_by_what_names_them(
    open_store: OpenStore, *, is_last: bool
) -> None:
    async with gateway(store=open_store()) as world:
        result: Any = await imported(world.service, with_attachment(NAMING, is_last=is_last))
        (one,) = result.shape["conversations"]
        store = world.service.store
        row = await store.load_attachment("att_1", view="public", conversation_id=one["id"])
        collected = await store.collect_attachments(created_before=10**15, limit=10)

    assert row is not None
    assert (one["attachment_count"], one["attachments_missing"]) == (1, 1)
    assert collected == 0


@pytest.mark.requirement("gateway:import:taken-id")
async def test_an_attachment_whose_id_is_taken_gets_another(open_store: OpenStore) -> None:
    async with gateway(store=open_store()) as world:
        await imported(world.service, with_attachment(NAMING), tenant="t1")
        result: Any = await imported(world.service, with_attachment(NAMING, content=b"other"))
        (one,) = result.shape["conversations"]
        (row,) = await world.service.store.list_attachments(one["id"])
        document = await exported_json(world.service, one["id"], "owner")
        with pytest.raises(ArchiveError, match="attachment_exists"):
            await imported(world.service, with_attachment(NAMING, is_last=True))

    assert one["attachments_renamed"] == 1
    assert row.id != "att_1"
    blocks = document["messages"][0]["content"]
    assert blocks[0]["attachment_id"] == row.id
    assert blocks[1]["attachments"] == [row.id, "att_other"]
    assert blocks[2] == NAMING["content"][2]  # type: ignore[index]


@pytest.mark.requirement("gateway:import:not-ours")
async def test_an_archive_gets_no_hold_on_what_it_does_not_bring(open_store: OpenStore) -> None:
    async with gateway(store=open_store()) as world:
        await imported(world.service, with_attachment(NAMING))
        (thief,) = await imported_ids(world.service, archive_of(NAMING))

        assert list(await world.service.store.list_attachments(thief)) == []
        loaded = await world.service.store.load_attachment("att_1", conversation_id=thief)
        problems = await world.service.store.check()

    assert loaded is None
    assert list(problems) == []


async def test_a_message_follows_its_conversation() -> None:
    async with gateway() as world:
        one = {**QUESTION, "conversation_id": "conv_elsewhere"}
        (conversation_id,) = await imported_ids(world.service, archive_of(one))
        document = await exported_json(world.service, conversation_id, "owner")

    assert document["messages"] == [{**one, "conversation_id": conversation_id}]


# refusals ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("data", "code", "pointer"),
    [
        (archive_of(title="a\x00b"), "invalid_name", "/conversation/title"),
        (archive_of(tags=[" x", "y"] * 40), "invalid_member", "/conversation/tags"),
        (archive_of(QUESTION, QUESTION), "message_exists", None),
    ],
)
@pytest.mark.requirement("gateway:import:refused")
async def test_refusals_name_the_place(data: bytes, code: str, pointer: str | None) -> None:
    async with gateway() as world:
        with pytest.raises(ArchiveError) as refused:
            await imported(world.service, data)
        await assert_nothing_is_left(world)

    assert (refused.value.code, refused.value.pointer) == (code, pointer)
    assert refused.value.detail.startswith("line ")


async def test_a_repeated_message_is_found_across_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "BATCH_MESSAGES", 2)
    some = [message(n, "x") for n in (1, 2, 3, 1)]
    async with gateway() as world:
        with pytest.raises(ArchiveError, match="message_exists") as refused:
            await imported(world.service, archive_of(*some))
        await assert_nothing_is_left(world)

    assert refused.value.line == 6
    assert "line 5" in refused.value.detail


@pytest.mark.parametrize(
    ("settings_", "code"),
    [
        (GatewaySettings(import_conversations_max=1), "limit_exceeded"),
        (GatewaySettings(import_line_bytes_max=30_000), "archive_line_too_long"),
        (GatewaySettings(attachment_bytes_max=100), "attachment_too_large"),
    ],
)
@pytest.mark.requirement("gateway:import:limits")
async def test_what_is_too_large_is_refused(settings_: GatewaySettings, code: str) -> None:
    async with gateway(settings=settings_) as world:
        with pytest.raises((RemoteProtocolError, StoreError)) as refused:
            await imported(world.service, b"".join(archive_lines(2)))
        await assert_nothing_is_left(world)

    assert refused.value.code == code


async def test_too_many_attachments_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "ATTACHMENTS_MAX", 1)
    async with gateway() as world:
        with pytest.raises(ArchiveError, match="limit_exceeded"):
            await imported(world.service, archive_of(NAMING))
        monkeypatch.setattr(incoming, "ATTACHMENTS_MAX", 0)
        with pytest.raises(ArchiveError, match="limit_exceeded"):
            await imported(world.service, WHOLE)
        await assert_nothing_is_left(world)


async def test_unknown_lines_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "IGNORED_TYPES_MAX", 1)
    writer = ArchiveWriter()
    lines = [
        writer.start(created_at=1, generator="g", view="owner"),
        *(writer.copy(b'{"type":"acme.%d"}' % n, is_end=False) for n in range(3)),
        writer.end(),
    ]
    async with gateway() as world:
        result = await imported(world.service, b"".join(lines))

    assert result.shape == {"conversations": [], "ignored_lines": {"acme.0": 1, "others": 2}}


async def test_a_conversation_of_the_future_is_of_now() -> None:
    async with gateway() as world:
        (conversation_id,) = await imported_ids(world.service, archive_of(created_at=2**53 - 1))
        shape: Any = await world.service.read_conversation(conversation_id, None)

    assert shape["created_at"] == shape["updated_at"]
