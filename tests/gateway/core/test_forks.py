"""Forks and retries: a conversation that begins like another, a question asked again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
import pytest

from blockwire.content import TurnEnded
from blockwire.errors import BlockwireError, StoreError
from blockwire.gateway.turns import forks
from blockwire.jsontext import Json
from blockwire.ports import Append, Appended, EngineRequest
from blockwire.stores import MemoryStore
from tests.gateway.core.conftest import OpenStore
from tests.gateway.core.world import (
    CountingIds,
    ScriptEngine,
    World,
    answering,
    gateway,
    stuck_after,
)

pytestmark = pytest.mark.anyio


async def messages(world: World, conversation_id: str) -> list[Any]:
    page = await world.service.list_messages(
        conversation_id,
        before=None,
        after="0",
        limit=200,
        bytes_max=10_000_000,
        view="owner",
        tenant=None,
    )
    return list(page["items"])  # type: ignore[arg-type]


async def fork(world: World, conversation_id: str, **body: Json) -> dict[str, Any]:
    return await world.service.fork_conversation(
        conversation_id, dict(body), tenant=None, view="owner"
    )


async def refusal_of(work: Any) -> str:
    with pytest.raises(BlockwireError) as refused:
        await work
    return refused.value.code


@pytest.mark.requirement("gateway:fork:equal", "gateway:fork:own")
async def test_a_fork_has_equal_messages_and_goes_its_own_way(open_store: OpenStore) -> None:
    engine = ScriptEngine(answering("A"))
    async with gateway(store=open_store(), engines={"s": engine}) as world:
        source = await world.conversation(
            title="One", tags=["a"], system="Be brief.", metadata={"k": 1}
        )
        await world.service.append_message(source, {"role": "developer", "content": "Rules"}, None)
        first = await world.ask(source, "1")
        second = await world.ask(source, "2")

        whole = await fork(world, source)
        part = await fork(world, source, turn_id=first["id"], title="Two")

        for name in ("title", "tags", "system", "metadata"):
            kept = await world.service.read_conversation(source, None, view="owner")
            assert whole[name] == kept[name]
        assert part["title"] == "Two"
        assert await messages(world, whole["id"]) == await messages(world, source)
        assert await messages(world, part["id"]) == (await messages(world, source))[:3]
        assert (whole["head_seq"], whole["usage"]) == (5, {"turns": 0})
        # What is read from its log is the same.
        assert list((await world.folded(part["id"])).messages) == await messages(world, part["id"])
        assert len(await world.events(part["id"], "public")) == 2
        asked = await world.ask(part["id"], "3")
        assert asked["status"] == "completed"
        assert len(engine.requests[-1].messages) == 4
        await world.service.delete_conversation(source, None)
        assert len(await messages(world, part["id"])) == 5
        assert second["id"] in {message["id"] for message in await messages(world, whole["id"])}
        assert await world.service.store.check() == []


@pytest.mark.requirement("gateway:fork:over")
async def test_what_is_not_over_is_left_out_or_refused() -> None:
    engine = ScriptEngine(stuck_after(lambda _id: []))
    async with gateway(engines={"s": engine}) as world:
        source = await world.conversation()
        running = await world.submit(source, "1")
        queued = await world.submit(source, "2")

        empty = await fork(world, source)

        assert (await messages(world, empty["id"]), empty["head_seq"]) == ([], 0)
        for turn_id in (running, queued):
            assert await refusal_of(fork(world, source, turn_id=turn_id)) == "turn_not_over"
        assert await refusal_of(fork(world, source, turn_id="turn_x")) == "turn_not_found"
        assert await refusal_of(fork(world, "conv_x")) == "conversation_not_found"
        assert await refusal_of(fork(world, source, other=1)) == "unknown_field"
        assert await refusal_of(fork(world, source, title="a\nb")) == "invalid_name"
        page = await world.service.list_conversations(cursor=None, limit=9, tenant=None)
        assert {row["id"] for row in page["items"]} == {source, empty["id"]}  # type: ignore[union-attr, index, call-overload]


async def test_a_tenant_forks_its_own_conversations_only() -> None:
    async with gateway() as world:
        service = world.service
        own = str((await service.create_conversation({}, tenant="a"))["id"])

        new = await service.fork_conversation(own, {}, tenant="a")

        assert await refusal_of(service.fork_conversation(own, {}, tenant="b")) == (
            "conversation_not_found"
        )
        assert (await service.read_conversation(str(new["id"]), "a"))["id"] == new["id"]
        assert await refusal_of(service.read_conversation(str(new["id"]), "b")) == (
            "conversation_not_found"
        )


@pytest.mark.requirement("gateway:fork:own")
async def test_a_fork_holds_the_attachments_of_its_messages(open_store: OpenStore) -> None:
    async def bytes_of_file() -> AsyncIterator[bytes]:
        yield b"\x89PNG\r\n\x1a\n a picture"

    async with gateway(store=open_store()) as world:
        source = await world.conversation()
        uploaded = await world.service.write_attachment(
            source, bytes_of_file(), name="a.png", claimed_type=None, tenant=None
        )
        named: Json = [
            {
                "type": "attachment",
                "attachment_id": uploaded["id"],
                "name": "a.png",
                "media_type": "image/png",
            }
        ]
        await world.ask(source, named)

        new = await fork(world, source)
        await world.service.delete_conversation(source, None)

        held = await world.service.store.list_attachments(new["id"])
        assert [row.id for row in held] == [uploaded["id"]]


class BreakingStore(MemoryStore):
    """A store that fails after so many appends, or stops there for a while."""

    left: int | None = None
    gate: anyio.Event | None = None
    reached: anyio.Event | None = None
    sizes: Sequence[int] = ()

    async def append(self, change: Append) -> Appended:
        self.sizes = (*self.sizes, len(change.drafts))
        if self.gate is not None and self.reached is not None:
            self.reached.set()
            await self.gate.wait()
        if self.left == 0:
            raise StoreError("store_full", "full")
        if self.left is not None:
            self.left -= 1
        return await super().append(change)


@pytest.mark.requirement("gateway:fork:whole", "gateway:fork:bounded")
async def test_a_fork_that_fails_half_through_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forks, "PAGE_MESSAGES", 2)
    store = BreakingStore()
    async with gateway(store=store) as world:
        source = await world.conversation()
        for number in range(3):
            await world.ask(source, str(number))
        store.left = 2
        store.sizes = []

        assert await refusal_of(fork(world, source)) == "store_full"

        assert list(store.sizes) == [2, 2, 2]
        store.left = None
        page = await world.service.list_conversations(cursor=None, limit=9, tenant=None)
        assert [row["id"] for row in page["items"]] == [source]  # type: ignore[union-attr, index, call-overload]
        assert list(store._conversations) == [source]


@pytest.mark.requirement("gateway:fork:whole")
async def test_nobody_sees_a_fork_before_it_is_whole_and_a_deletion_meanwhile_ends_it() -> None:
    store = BreakingStore()
    async with gateway(store=store) as world:
        source = await world.conversation()
        await world.ask(source, "1")
        store.gate, store.reached = anyio.Event(), anyio.Event()
        codes: list[str] = []

        async def try_it() -> None:
            codes.append(await refusal_of(fork(world, source)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(try_it)
            await store.reached.wait()
            (hidden,) = set(store._conversations) - {source}
            seen = await refusal_of(world.service.read_conversation(hidden, None))
            page = await world.service.list_conversations(cursor=None, limit=9, tenant=None)
            await world.service.delete_conversation(source, None)
            store.gate.set()

        assert seen == "conversation_not_found"
        assert [row["id"] for row in page["items"]] == [source]  # type: ignore[union-attr, index, call-overload]
        assert codes == ["conversation_not_found"]
        assert store._conversations == {}


async def test_a_fork_whose_rest_cannot_be_deleted_is_deleted_by_the_next_start() -> None:
    class Stubborn(BreakingStore):
        async def delete_conversation(self, conversation_id: str) -> bool:
            if self.left == 0:
                raise StoreError("store_full", "full")
            return await super().delete_conversation(conversation_id)

    store = Stubborn()
    async with gateway(store=store) as world:
        source = await world.conversation()
        await world.ask(source, "1")
        store.left = 0
        assert await refusal_of(fork(world, source)) == "store_full"
        assert len(store._conversations) == 2
        store.left = None
    async with gateway(store=store, ids=CountingIds(500)):
        assert list(store._conversations) == [source]


# retries ----------------------------------------------------------------------------------
async def retry(world: World, conversation_id: str, turn_id: str, **body: Json) -> Any:
    key = body.pop("key", None)
    return await world.service.retry_turn(
        conversation_id,
        turn_id,
        dict(body),
        idempotency_key=None if key is None else str(key),
        tenant=None,
    )


async def flaky(request: EngineRequest) -> Any:
    yield TurnEnded(request.turn_id, "failed", error_code="provider_unavailable")


@pytest.mark.requirement("gateway:retry:same", "gateway:retry:instead")
async def test_a_retry_asks_the_same_again_in_place_of_what_went_before(
    open_store: OpenStore,
) -> None:
    engines = {"flaky": ScriptEngine(flaky), "good": ScriptEngine(answering("A"))}
    content: Json = [{"id": "mine", "type": "prose", "markdown": "Why?", "x": 1}]
    async with gateway(store=open_store(), engines=engines) as world:
        conversation_id = await world.conversation()
        await world.ask(conversation_id, "before", engine="good")
        failed = await world.ask(conversation_id, content, model="m", options={"a": 1})

        again = (await retry(world, conversation_id, failed["id"])).turn
        await world.ended(conversation_id, again["id"])
        result = await retry(world, conversation_id, again["id"], engine="good", options={})
        third = await world.ended(conversation_id, result.turn["id"])

        assert result.is_new
        assert (again["retry_of"], third["retry_of"]) == (failed["id"], again["id"])
        first, second = engines["flaky"].requests
        assert (second.model, second.options) == (first.model, first.options) == ("m", {"a": 1})
        last = engines["good"].requests[-1]
        # A model belongs to its engine.
        assert (last.engine, last.model, last.options) == ("good", None, {})
        for request in (second, last):
            texts = [message["content"][0]["markdown"] for message in request.messages]  # type: ignore[index, call-overload]
            assert texts == ["before", "A", "Why?"]
            assert request.messages[-1]["content"] == content
        # All attempts stay where they are.
        assert len(await messages(world, conversation_id)) == 8
        assert (await world.turn(conversation_id, failed["id"]))["status"] == "failed"


@pytest.mark.requirement("gateway:retry:key")
async def test_a_retry_is_idempotent_under_its_key() -> None:
    async with gateway(engines={"flaky": ScriptEngine(flaky)}) as world:
        conversation_id = await world.conversation()
        failed = await world.ask(conversation_id, "Why?", key="k0")
        other = await world.ask(conversation_id, "Why?")

        first = await retry(world, conversation_id, failed["id"], key="k")
        again = await retry(world, conversation_id, failed["id"], key="k")

        assert (first.is_new, again.is_new) == (True, False)
        assert first.turn["id"] == again.turn["id"]
        for turn_id, key in ((failed["id"], "k0"), (other["id"], "k")):
            refused = refusal_of(retry(world, conversation_id, turn_id, key=key))
            assert await refused == "idempotency_key_reused"


@pytest.mark.requirement("gateway:retry:over")
async def test_what_is_not_over_is_not_retried_and_a_retry_waits_its_turn() -> None:
    engine = ScriptEngine(stuck_after(lambda _id: []))
    async with gateway(engines={"flaky": ScriptEngine(flaky), "s": engine}) as world:
        conversation_id = await world.conversation()
        failed = await world.ask(conversation_id, "Why?")
        running = await world.submit(conversation_id, "1", engine="s")
        queued = await world.submit(conversation_id, "2")

        waiting = (await retry(world, conversation_id, failed["id"])).turn

        assert (waiting["status"], waiting["retry_of"]) == ("queued", failed["id"])
        for turn_id, code in (
            (running, "turn_not_over"),
            (queued, "turn_not_over"),
            ("turn_x", "turn_not_found"),
        ):
            assert await refusal_of(retry(world, conversation_id, turn_id)) == code
        unknown = refusal_of(retry(world, conversation_id, failed["id"], content="no"))
        assert await unknown == "unknown_field"
        stale = refusal_of(retry(world, conversation_id, failed["id"], if_last_turn=running))
        assert await stale == "last_turn_mismatch"
