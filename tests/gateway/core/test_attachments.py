"""What engines get of attachments: what their conversation holds, and nothing else of this machine."""

from typing import Any

import pytest

from blockwire.ports import EngineFiles
from tests.gateway.core.world import ScriptEngine, World, answering, gateway, stream_of

pytestmark = pytest.mark.anyio


async def put(world: World, conversation_id: str, content: bytes) -> dict[str, Any]:
    row = await world.service.write_attachment(
        conversation_id, stream_of(content), name="a.png", claimed_type=None, tenant=None
    )
    return {
        "type": "attachment",
        "attachment_id": row["id"],
        "name": "a.png",
        "media_type": row["media_type"],
    }


async def read(files: EngineFiles | None, attachment_id: str) -> bytes | None:
    assert files is not None
    row = await files.find(attachment_id)
    return None if row is None else b"".join([data async for data in files.read(row)])


@pytest.mark.requirement("engines:files:path", "engines:files:held")
async def test_an_engine_reads_what_its_conversation_holds() -> None:
    engine = ScriptEngine(answering("ok"))
    large = bytes(range(256)) * 2500
    async with gateway(engines={"test": engine}) as world:
        mine, other = [await world.conversation() for _ in range(2)]
        first = await put(world, mine, large)
        foreign = await put(world, other, b"foreign")
        unnamed = await put(world, mine, b"unnamed")

        await world.ask(mine, [first, {"type": "prose", "markdown": "?"}])

        files = engine.requests[0].files
        assert await read(files, first["attachment_id"]) == large
        assert await read(files, unnamed["attachment_id"]) == b"unnamed"
        assert await read(files, foreign["attachment_id"]) is None
        assert await read(files, "att_none") is None
        # Of the same tenant, naming is taking.
        await world.ask(mine, [foreign])
        assert await read(engine.requests[1].files, foreign["attachment_id"]) == b"foreign"


@pytest.mark.requirement("engines:files:path")
async def test_a_message_cannot_say_where_a_file_is() -> None:
    engine = ScriptEngine(answering("ok"))
    async with gateway(engines={"test": engine}) as world:
        conversation_id = await world.conversation()
        block = {
            **await put(world, conversation_id, b"x"),
            "path": "/etc/passwd",
            "url": "file:///etc/passwd",
            "note": "kept",
        }
        card: dict[str, Any] = {"type": "acme.card", "path": "stays"}

        await world.ask(conversation_id, [block, card])

        content: Any = engine.requests[0].messages[0]["content"]
        assert {"path", "url"} & content[0].keys() == set()
        assert content[0]["note"] == "kept"
        assert content[1]["path"] == "stays"


async def test_inline_files_of_a_submit_reach_the_engine() -> None:
    engine = ScriptEngine(answering("ok"))
    async with gateway(engines={"test": engine}) as world:
        conversation_id = await world.conversation()

        await world.ask(conversation_id, [{"type": "attachment", "name": "a", "data": "aGk="}])

        asked = engine.requests[0]
        content: Any = asked.messages[0]["content"]
        assert "data" not in content[0]
        assert await read(asked.files, content[0]["attachment_id"]) == b"hi"


@pytest.mark.requirement("attachments:hold:forked")
async def test_a_fork_holds_the_attachments_of_its_messages() -> None:
    engine = ScriptEngine(answering("ok"))
    async with gateway(engines={"test": engine}) as world:
        source = await world.conversation()
        block = await put(world, source, b"content")
        await world.ask(source, [block])
        forked = await world.service.fork_conversation(source, {}, tenant=None, view="owner")
        forked_id = str(forked["id"])

        await world.service.delete_conversation(source, None)

        store = world.service.store
        assert await store.list_holders(block["attachment_id"]) == [forked_id]
        found = await world.service.find_attachment(
            block["attachment_id"], view="public", tenant=None, conversation_id=forked_id
        )
        assert found.size_bytes == 7
        await world.service.delete_conversation(forked_id, None)
        assert (await store.measure_attachments(None)).total_bytes == 0
