"""Exports: of one committed moment, for one view, in bounded memory."""

from __future__ import annotations

import tracemalloc
from contextlib import aclosing
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    Message,
    StreamEvent,
    TurnEnded,
)
from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.gateway import exports
from blockwire.gateway.exports import ExportFormat, file_name
from blockwire.jsontext import Json, equal_json
from blockwire.ports import EngineRequest
from blockwire.stores import MemoryStore, SqliteStore
from tests.gateway.core.conftest import OpenStore
from tests.gateway.core.world import ScriptEngine, World, gateway, prose
from tests.support.transfers import archived_messages, exported, exported_json, pieces

pytestmark = pytest.mark.anyio

FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
SECRET = "canary-4711"


def message(number: int, text: str, **members: Any) -> Message:
    return {
        "id": f"msg_{number}",
        "role": "user",
        "status": "completed",
        "content": [{"id": "b1", "type": "prose", "markdown": text}],
        "created_at": 10 + number,
        **members,
    }


async def filled(world: World, *texts: str) -> str:
    conversation_id = await world.conversation(title="Coins")
    for number, text in enumerate(texts):
        await world.service.append_message(conversation_id, message(number, text), None)
    return conversation_id


@pytest.mark.parametrize("export_format", FORMATS)
@pytest.mark.requirement("gateway:export:formats")
async def test_every_format_has_every_message_in_order(
    open_store: OpenStore, export_format: ExportFormat
) -> None:
    async with gateway(store=open_store()) as world:
        conversation_id = await filled(world, *(f"word{n:03}." for n in range(450)))

        text = (await exported(world.service, conversation_id, export_format)).decode()

    places = [text.index(f"word{n:03}.") for n in range(450)]
    assert places == sorted(places)


@pytest.mark.requirement("gateway:export:moment")
async def test_an_export_is_of_one_moment_whatever_happens_meanwhile(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "PAGE_MESSAGES", 2)
    go_on = anyio.Event()

    async def script(request: EngineRequest) -> Any:
        for event in prose(request.turn_id, "b1", "half ", is_open=True):
            yield event
        await go_on.wait()
        yield BlockDelta(request.turn_id, "b1", "markdown", "and whole")
        yield BlockCompleted(request.turn_id, "b1")
        yield TurnEnded(request.turn_id, "completed")

    engines = {"s": ScriptEngine(script)}
    async with gateway(store=open_store(), engines=engines) as world:
        conversation_id = await filled(world, "one", "two", "three")
        turn_id = await world.submit(conversation_id, "four")
        await world.wait_for_seq(conversation_id, 7)
        texts = {}
        for export_format in FORMATS:
            async with world.service.exporting(
                conversation_id, export_format, view="owner", tenant=None
            ) as export:
                got = [await anext(export.pieces)] if export_format != "jsonl" else []
                if not go_on.is_set():
                    # One that has begun, and one whose pieces nobody has asked for yet.
                    go_on.set()
                    await world.ended(conversation_id, turn_id)
                    await world.service.append_message(conversation_id, message(9, "five"), None)
                got += [piece async for piece in export.pieces]
                texts[export_format] = b"".join(got).decode()
        first = texts.pop("markdown")

    assert "half" in first
    assert "whole" not in first
    assert "five" not in first
    for text in texts.values():
        assert "whole" in text
        assert "five" in text


@pytest.mark.requirement("gateway:export:running")
async def test_a_running_turn_is_shown_as_it_stands_and_not_archived(open_store: OpenStore) -> None:
    async def script(request: EngineRequest) -> Any:
        for event in prose(request.turn_id, "b1", "half an answer", is_open=True):
            yield event
        await anyio.sleep_forever()

    engines = {"s": ScriptEngine(script)}
    async with gateway(store=open_store(), engines=engines) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id, "ask")
        await world.wait_for_seq(conversation_id, 4)
        document = await exported_json(world.service, conversation_id, "owner")
        archive = await exported(world.service, conversation_id)
        markdown = await exported(world.service, conversation_id, "markdown")

    assert [m["status"] for m in document["messages"]] == ["completed", "streaming"]
    assert document["seq"] == document["conversation"]["head_seq"] == 4
    assert b"half an answer" in markdown
    assert [m["role"] for m in archived_messages(archive)] == ["user"]
    assert f'"unfinished_turn_ids":["{turn_id}"]'.encode() in archive
    assert b"half an answer" not in archive


def everything_private(turn_id: str) -> list[StreamEvent]:
    return [
        BlockStarted(turn_id, {"id": "r1", "type": "reasoning", "text": ""}),
        BlockDelta(turn_id, "r1", "text", SECRET),
        BlockCompleted(turn_id, "r1"),
        *prose(turn_id, "b1", "shown to all"),
        TurnEnded(turn_id, "completed"),
    ]


@pytest.mark.case("V02")
@pytest.mark.parametrize("export_format", FORMATS)
@pytest.mark.requirement("gateway:export:view")
async def test_an_export_holds_what_its_view_may_see(
    open_store: OpenStore, export_format: ExportFormat
) -> None:
    async def script(request: EngineRequest) -> Any:
        for event in everything_private(request.turn_id):
            yield event

    engines = {"s": ScriptEngine(script)}
    async with gateway(store=open_store(), engines=engines) as world:
        conversation_id = await world.conversation(system=f"system {SECRET}")
        for role in ("system", "developer"):
            await world.service.append_message(
                conversation_id, {"role": role, "content": SECRET}, None
            )
        await world.service.append_message(
            conversation_id,
            {
                "role": "assistant",
                "provider_data": {"signature": SECRET},
                "content": [
                    {"id": "b1", "type": "prose", "markdown": "x", "provider_data": SECRET},
                    {"id": "b2", "type": "attachment", "attachment_id": "att_x", "name": "n",
                     "media_type": "text/plain", "source_json": SECRET},
                ],
            },
            None,
        )  # fmt: skip
        await world.ask(conversation_id, "ask")

        public = await exported(world.service, conversation_id, export_format, view="public")
        owner = await exported(world.service, conversation_id, export_format, view="owner")

    assert b"shown to all" in public
    assert SECRET.encode() not in public
    assert SECRET.encode() in owner
    is_data = export_format in {"json", "jsonl"}
    assert (b"provider_data" in owner) is is_data


@pytest.mark.requirement("gateway:export:attachments")
async def test_an_archive_has_the_attachments_that_its_view_sees(open_store: OpenStore) -> None:
    async with gateway(store=open_store()) as world:
        conversation_id = await world.conversation()
        store = world.service.store
        for name in ("open", "hidden"):
            await store.write_attachment(
                conversation_id,
                attachment_id=f"att_{name}",
                name=f"{name}.txt",
                media_type=None,
                created_at=5,
                chunks=pieces(f"content of {name} ".encode() * 9_000),
                size_bytes_max=10_000_000,
            )
        archive = await exported(world.service, conversation_id)
        public = await exported(world.service, conversation_id, view="public")

    assert b'"id":"att_open"' in archive
    assert b'"id":"att_hidden"' in archive
    # Nothing that the public gets names them.
    assert b"att_" not in public


async def test_a_conversation_that_is_deleted_meanwhile_ends_its_export_with_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exports, "PAGE_MESSAGES", 2)
    async with gateway() as world:
        for export_format in FORMATS:
            conversation_id = await filled(world, *("long " * 20_000 for _ in range(5)))
            async with world.service.exporting(
                conversation_id, export_format, view="owner", tenant=None
            ) as export:
                await anext(export.pieces)
                await world.service.delete_conversation(conversation_id, None)
                with pytest.raises(RemoteProtocolError, match="conversation_not_found"):
                    [piece async for piece in export.pieces]


async def test_an_attachment_that_is_too_short_is_no_whole_export(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()
        await world.service.store.write_attachment(
            conversation_id,
            attachment_id="att_1",
            name="n",
            media_type=None,
            created_at=5,
            chunks=pieces(b"abc"),
            size_bytes_max=10,
        )

        async def read_nothing(*_: Any, **__: Any) -> bytes:
            return b""

        monkeypatch.setattr(MemoryStore, "read_attachment", read_nothing)
        with pytest.raises(StoreError, match="store_corrupt"):
            await exported(world.service, conversation_id)


@pytest.mark.requirement("gateway:export:tenant")
async def test_a_foreign_conversation_is_not_exported() -> None:
    async with gateway() as world:
        created = await world.service.create_conversation({}, tenant="t1")
        for conversation_id in (str(created["id"]), "conv_unknown"):
            with pytest.raises(RemoteProtocolError, match="conversation_not_found"):
                await exported(world.service, conversation_id, tenant="t2")


@pytest.mark.requirement("gateway:export:etag")
async def test_the_tag_changes_with_what_is_exported(open_store: OpenStore) -> None:
    async def tag(world: World, conversation_id: str, *how: Any) -> str:
        export_format, view = how or ("json", "owner")
        async with world.service.exporting(
            conversation_id, export_format, view=view, tenant=None
        ) as export:
            return export.etag

    async with gateway(store=open_store()) as world:
        conversation_id = await filled(world, "one")
        tags = [
            await tag(world, conversation_id),
            await tag(world, conversation_id, "json", "public"),
            await tag(world, conversation_id, "text", "owner"),
        ]
        assert await tag(world, conversation_id) == tags[0]
        await world.service.append_message(conversation_id, message(5, "two"), None)
        tags.append(await tag(world, conversation_id))
        await world.service.update_conversation(conversation_id, {"title": "New"}, None)
        tags.append(await tag(world, conversation_id))
        await world.service.update_conversation(conversation_id, {"system": "Be brief."}, None)
        tags.append(await tag(world, conversation_id))

    assert len(set(tags)) == len(tags)
    assert all(one.startswith('W/"') for one in tags)


@pytest.mark.requirement("gateway:export:etag", "auth:canary:answers")
async def test_the_tag_of_a_public_export_follows_from_nothing_private() -> None:
    tags = []
    for system in ("Be brief.", "Be long.", None):
        async with gateway() as world:
            body: dict[str, Json] = {} if system is None else {"system": system}
            created = await world.service.create_conversation(body, tenant=None)
            async with world.service.exporting(
                str(created["id"]), "json", view="public", tenant=None
            ) as export:
                tags.append(export.etag)

    assert len(set(tags)) == 1


@pytest.mark.requirement("gateway:export:memory")
@pytest.mark.parametrize("export_format", FORMATS)
async def test_memory_does_not_grow_with_the_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, export_format: ExportFormat
) -> None:
    monkeypatch.setattr(exports, "PAGE_BYTES", 32_768)
    monkeypatch.setattr(exports, "PIECE_BYTES", 8_192)

    async def peak_bytes(world: World, conversation_id: str) -> int:
        async with world.service.exporting(
            conversation_id, export_format, view="owner", tenant=None
        ) as export:
            tracemalloc.start()
            try:
                size_bytes = 0
                async with aclosing(export.pieces) as all_pieces:
                    async for piece in all_pieces:
                        size_bytes += len(piece)
                        assert len(piece) < 2 * exports.PIECE_BYTES
                assert size_bytes > 0
                return tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

    async with gateway(store=SqliteStore(tmp_path / "store.db")) as world:
        text = "A line of some length, as they are.\n" * 50
        small = await filled(world, *[text] * 40)
        large = await filled(world, *[text] * 400)
        await peak_bytes(world, small)
        # What else the process did meanwhile is in a peak, too: the least of three is what it takes.
        peaks = [min([await peak_bytes(world, one) for _ in range(3)]) for one in (small, large)]

    # Ten times the conversation: 72 kB and 720 kB of text.
    assert peaks[1] < peaks[0] + 72_000, peaks


async def test_a_json_export_of_nothing_is_whole() -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()
        document = await exported_json(world.service, conversation_id, "owner")
        shape = await world.service.read_conversation(conversation_id, None)

    assert equal_json(document, {"conversation": shape, "seq": 0, "messages": []})


# names -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Coins", "Coins.md"),
        ("a/b\\c:d", "a-b-c-d.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        (" .hidden. ", "hidden.md"),
        ("x\r\nset-cookie: a", "x set-cookie- a.md"),
        ("\u202egnp.exe", "gnp.exe.md"),
        ("", "conv_1.md"),
        (None, "conv_1.md"),
        ("///", "conv_1.md"),
        ("Zwölf Münzen 硬币", "Zwölf Münzen 硬币.md"),
        ("n" * 300, "n" * 80 + ".md"),
    ],
)
@pytest.mark.requirement("gateway:export:name")
def test_the_name_of_the_file_is_safe(title: str | None, name: str) -> None:
    assert file_name(title, "conv_1", "md") == name


@given(st.text() | st.none(), st.text())
def test_any_title_gives_a_name(title: str | None, conversation_id: str) -> None:
    name = file_name(title, conversation_id, "md")

    assert name.endswith(".md")
    assert name.isprintable()
    assert len(name.encode()) < 255
    assert not set(name) & set('<>:"/\\|?*')


def test_there_is_always_a_name() -> None:
    assert file_name("...", "///", "md") == "conversation.md"
