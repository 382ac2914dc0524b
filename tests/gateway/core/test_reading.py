"""What readers are shown: the same message on every road, for each view its own."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from blockwire.content import (
    TERMINAL_STATUSES,
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    ConversationState,
    StreamEvent,
    TurnEnded,
    TurnSuspended,
    View,
    apply,
    decode_event,
)
from blockwire.errors import BlockwireError, RemoteProtocolError
from blockwire.gateway.settings import GatewaySettings
from blockwire.gateway.turns.folding import frame_values
from blockwire.jsontext import Json, equal_json
from blockwire.ports import EngineRequest, Page, TurnRow
from blockwire.stores import MemoryStore
from tests.gateway.core.conftest import OpenStore
from tests.gateway.core.world import (
    CountingIds,
    ScriptEngine,
    World,
    answering,
    gateway,
    line,
    prose,
    stuck_after,
)
from tests.support.transfers import exported as exported_archive
from tests.support.transfers import exported_json, imported_ids

pytestmark = pytest.mark.anyio

VIEWS: tuple[View, ...] = ("owner", "public")
SECRET = "between us"


def everything_at_once(turn_id: str) -> list[StreamEvent]:
    """Return events of every kind, with private parts, and blocks left open."""
    return [
        BlockStarted(turn_id, {"id": "r1", "type": "reasoning", "text": ""}),
        BlockDelta(turn_id, "r1", "text", SECRET),
        BlockStarted(
            turn_id,
            {"id": "r2", "type": "reasoning", "text": "", "visibility": "visible"},
        ),
        BlockDelta(turn_id, "r2", "text", "shown"),
        BlockCompleted(turn_id, "r2", provider_data={"signature": SECRET}),
        *prose(turn_id, "b1", "Hel", "lo \x00 \u2028"),
        BlockStarted(
            turn_id,
            {
                "id": "t1",
                "type": "tool",
                "tool": "ls",
                "status": "pending",
                "input": {"big": 10**30, "n": 1.5},
                "provider_data": SECRET,
            },
        ),
        BlockUpdated(turn_id, "t1", {"status": "running"}),
        BlockUpdated(turn_id, "t1", {"output": None, "provider_data": SECRET}),
        BlockStarted(turn_id, {"id": "x1", "type": "hologram", "depth": 3}),
        BlockCompleted(turn_id, "x1"),
        *prose(turn_id, "b2", "open", is_open=True),
    ]


async def snapshot_state(
    world: World, conversation_id: str, view: View
) -> tuple[ConversationState, int]:
    frame, seq = await world.service.snapshot_frame(conversation_id, view, reset=False)
    (value,) = frame_values(frame)
    assert frame.startswith(b"id: %d\nevent: conversation.snapshot\n" % seq)
    return apply(ConversationState(), decode_event(value)), seq


async def message_list(world: World, conversation_id: str, view: View) -> list[dict[str, Any]]:
    page = await world.service.list_messages(
        conversation_id,
        before=None,
        after=None,
        limit=50,
        bytes_max=1_000_000,
        view=view,
        tenant=None,
    )
    return list(page["items"])  # type: ignore[arg-type]


async def assert_all_roads_agree(world: World, conversation_id: str) -> None:
    turns = await world.service.list_turns(conversation_id, cursor=None, limit=50, tenant=None)
    for view in VIEWS:
        folded = await world.folded(conversation_id, view)
        snapshot, seq = await snapshot_state(world, conversation_id, view)
        listed = await message_list(world, conversation_id, view)
        assert equal_json(listed, folded.messages)  # type: ignore[arg-type]
        exported = await exported_json(world.service, conversation_id, view)
        assert equal_json(exported["messages"], folded.messages)  # type: ignore[arg-type]
        # What an archive holds comes out of its import as it went in.
        archive = await exported_archive(world.service, conversation_id, view=view)
        (imported_id,) = await imported_ids(world.service, archive)
        imported = await exported_json(world.service, imported_id, "owner")
        over = [m for m in folded.messages if m["status"] in TERMINAL_STATUSES]
        assert equal_json(imported["messages"], over)  # type: ignore[arg-type]
        assert equal_json(snapshot.messages, folded.messages)  # type: ignore[arg-type]
        assert seq >= folded.seq
        for turn in folded.turns:
            twin = snapshot.find_turn(turn.turn_id)
            assert twin is not None
            assert dict(twin.ended) == dict(turn.ended)
            assert twin.request == turn.request
            assert [b.id for b in twin.open_blocks] == [b.id for b in turn.open_blocks]
        for shape in turns["items"]:  # type: ignore[union-attr]
            read = await world.turn(conversation_id, shape["id"], view=view)  # type: ignore[arg-type, index, call-overload]
            state = folded.find_turn(read["id"])
            assert state is not None
            assert equal_json(read["message"], state.message)
            assert read["open_block_ids"] == [b.id for b in state.open_blocks]
            assert read["status"] == state.turn_status
            # What a suspended turn waits for is told to each view in its own words.
            assert read.get("request", None) == (state.request and dict(state.request))
            assert {**shape, **read} == read  # type: ignore[dict-item]


@pytest.mark.parametrize("end", ["completed", "failed", "cancelled", "suspended", None])
@pytest.mark.requirement("gateway:read:equal")
@pytest.mark.requirement("gateway:read:private")
async def test_a_message_is_equal_json_by_every_road_in_both_views_and_after_a_restart(
    open_store: OpenStore, end: Any
) -> None:
    request: dict[str, Json] = {
        "id": "req_1",
        "kind": "approval",
        "prompt": "May I?",
        "block_id": "r1",
        "provider_data": SECRET,
    }

    async def script(asked: EngineRequest) -> Any:
        for event in everything_at_once(asked.turn_id):
            yield event
        if end == "suspended":
            yield TurnSuspended(asked.turn_id, request)
        elif end is not None:
            yield TurnEnded(asked.turn_id, end, usage={"output": 7}, finish_reason="stop")
            return
        await anyio.sleep_forever()

    async with gateway(store=open_store(), engines={"s": ScriptEngine(script)}) as world:
        conversation_id = await world.conversation()
        await world.service.append_message(
            conversation_id, {"role": "developer", "content": SECRET}, None
        )
        turn_id = await world.submit(conversation_id, "Hi \u2028 \U0001f469\u200d\U0001f4bb")
        count = len(everything_at_once(turn_id))
        await world.wait_for_seq(conversation_id, 3 + count + (end is not None))
        if end not in {None, "suspended"}:
            await world.ended(conversation_id, turn_id)

        await assert_all_roads_agree(world, conversation_id)

        public = str(await world.events(conversation_id, "public"))
        public += str(await message_list(world, conversation_id, "public"))
        public += str(await world.turn(conversation_id, turn_id, view="public"))
        public += str(await world.service.snapshot_frame(conversation_id, "public", reset=False))
        assert SECRET not in public
        assert "shown" in public
    async with gateway(store=open_store(), ids=CountingIds(100)) as world:
        await assert_all_roads_agree(world, conversation_id)
        status = (await world.turn(conversation_id, turn_id))["status"]
        assert status == ("interrupted" if end is None else end)


@pytest.mark.requirement("gateway:snapshot:exact")
async def test_a_snapshot_and_the_events_after_it_give_the_state_of_one_who_saw_it_all() -> None:
    go_on = anyio.Event()

    async def script(asked: EngineRequest) -> Any:
        events = everything_at_once(asked.turn_id)
        for event in events[:9]:
            yield event
        await go_on.wait()
        for event in events[9:]:
            yield event
        yield TurnEnded(asked.turn_id, "completed")

    async with gateway(engines={"s": ScriptEngine(script)}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 11)
        early = {view: await snapshot_state(world, conversation_id, view) for view in VIEWS}
        go_on.set()
        await world.ended(conversation_id, turn_id)

        for view, (state, seq) in early.items():
            page = await world.service.store.read_frames(
                conversation_id, seq, view=view, bytes_max=100_000
            )
            for value in frame_values(page.frames):
                state = apply(state, decode_event(value))  # noqa: PLW2901 - folding
            assert state.messages == (await world.folded(conversation_id, view)).messages


@pytest.mark.requirement("gateway:snapshot:bounds")
async def test_a_snapshot_is_bounded_and_says_where_older_messages_are() -> None:
    settings = GatewaySettings(snapshot_messages_max=4)
    async with gateway(settings=settings) as world:
        conversation_id = await world.conversation()
        for number in range(5):
            await world.ask(conversation_id, f"Question {number}")
        running = await world.submit(conversation_id, "Last", engine="external")

        state, _seq = await snapshot_state(world, conversation_id, "owner")

        assert len(state.messages) == 5
        assert state.messages[-1]["id"] == running
        assert len(state.turns) == 3
        assert state.more_before is not None
        older = await world.service.list_messages(
            conversation_id,
            before=state.more_before,
            after=None,
            limit=50,
            bytes_max=100_000,
            view="owner",
            tenant=None,
        )
        everything = await message_list(world, conversation_id, "owner")
        assert [*older["items"], *state.messages] == everything  # type: ignore[misc]


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
@pytest.mark.parametrize("bytes_max", [1, 700, 100_000])
@pytest.mark.requirement("gateway:read:pages")
@pytest.mark.requirement("gateway:read:running")
async def test_pages_of_messages_join_to_the_whole_in_both_directions(
    limit: int, bytes_max: int
) -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()
        for number in range(3):
            await world.ask(conversation_id, f"Question {number}")
        turn_id = await world.submit(conversation_id, "Last", engine="external")
        block: Json = {"id": "b1", "type": "prose", "markdown": "so far"}
        await world.post(
            conversation_id,
            turn_id,
            line(type="content.block.started", turn_id=turn_id, block=block),
        )
        await world.service.append_message(conversation_id, {"role": "user", "content": "!"}, None)
        whole = await message_list(world, conversation_id, "owner")
        assert len(whole) == 9
        assert whole[7]["content"] == [block]

        for direction in ("before", "after"):
            cursors: dict[str, str | None] = {"before": None, "after": None}
            if direction == "after":
                cursors["after"] = "0"
            pages: list[list[Any]] = []
            while True:
                page = await world.service.list_messages(
                    conversation_id,
                    **cursors,
                    limit=limit,
                    bytes_max=bytes_max,
                    view="owner",
                    tenant=None,
                )
                pages.append(list(page["items"]))  # type: ignore[arg-type]
                assert 1 <= len(pages[-1]) <= limit
                if page["next_cursor"] is None:
                    break
                cursors[direction] = str(page["next_cursor"])
            ordered = pages if direction == "after" else pages[::-1]
            assert [message for some in ordered for message in some] == whole


@pytest.mark.parametrize("cursor", ["", "x", "-1", "1.5", "1" * 17, "١"])
@pytest.mark.requirement("gateway:read:cursor")
async def test_a_bad_message_cursor_is_refused(cursor: str) -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()

        for before, after in ((cursor, None), (None, cursor), ("1", "1")):
            with pytest.raises(RemoteProtocolError) as refused:
                await world.service.list_messages(
                    conversation_id,
                    before=before,
                    after=after,
                    limit=1,
                    bytes_max=1,
                    view="owner",
                    tenant=None,
                )
            assert refused.value.code == "invalid_cursor"


async def read_events(world: World, conversation_id: str, after: int, **more: Any) -> Any:
    return await world.service.read_events(
        conversation_id,
        **{
            "after": after,
            "view": "owner",
            "limit_bytes": 1,
            "wait_s": None,
            "tenant": None,
            **more,
        },
    )


@pytest.mark.requirement("gateway:poll:pages")
async def test_pages_of_events_join_to_the_log() -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()
        await world.ask(conversation_id)
        items: list[Any] = []
        page = await read_events(world, conversation_id, 0)
        while not page["at_end"]:
            items += page["items"]
            page = await read_events(world, conversation_id, int(page["next_cursor"]))
        items += page["items"]

        assert items == await world.events(conversation_id)
        assert await read_events(world, conversation_id, len(items)) == {
            "items": [],
            "next_cursor": str(len(items)),
            "at_end": True,
        }


@pytest.mark.requirement("gateway:read:ahead")
async def test_a_cursor_ahead_of_the_log_gets_a_snapshot_that_resets() -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()
        turn = await world.ask(conversation_id)

        page = await read_events(world, conversation_id, 10_000)

        (snapshot,) = page["items"]
        assert (snapshot["type"], snapshot["reset"]) == ("conversation.snapshot", True)
        assert page["next_cursor"] == str(snapshot["seq"]) == str(turn["seq"])
        assert page["at_end"] is True


@pytest.mark.requirement("gateway:read:wait")
async def test_waiting_for_events_ends_with_the_time_or_with_the_conversation() -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()
        nothing = await read_events(world, conversation_id, 0, wait_s=0.001)
        codes: list[str] = []

        async def wait() -> None:
            with pytest.raises(BlockwireError) as refused:
                await read_events(world, conversation_id, 0, wait_s=5)
            codes.append(refused.value.code)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await world.service.delete_conversation(conversation_id, None)

        assert nothing == {"items": [], "next_cursor": "0", "at_end": True}
        assert codes == ["conversation_not_found"]


@pytest.mark.requirement("gateway:read:wait")
async def test_what_is_withheld_from_a_view_ends_no_wait() -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()
        pages: list[Any] = []

        async def wait() -> None:
            pages.append(await read_events(world, conversation_id, 0, view="public", wait_s=5))

        async def append(role: str) -> None:
            message: dict[str, Json] = {"role": role, "content": "x"}
            await world.service.append_message(conversation_id, message, None)
            await anyio.wait_all_tasks_blocked()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await append("system")
            assert pages == []
            await append("user")

        assert [event["seq"] for event in pages[0]["items"]] == [2]
        assert pages[0]["next_cursor"] == "2"


async def test_waiting_for_a_turn_ends_with_the_time_or_with_the_turn() -> None:
    engine = ScriptEngine(stuck_after(lambda turn_id: prose(turn_id, "b1", "A", is_open=True)))
    async with gateway(engines={"s": engine}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        assert (await world.turn(conversation_id, turn_id, wait_s=0.001))["status"] == "running"
        found: list[str] = []

        async def wait() -> None:
            found.append((await world.turn(conversation_id, turn_id, wait_s=5))["status"])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await world.service.cancel_turn(conversation_id, turn_id, None)

        assert found == ["cancelled"]


async def test_unknown_turns_are_not_found_whatever_is_asked_of_them() -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()
        other = await world.conversation()
        foreign = await world.submit(other, engine="external")
        asked: Any
        for turn_id in ("turn_x", foreign):
            for asked in (
                lambda turn_id=turn_id: world.turn(conversation_id, turn_id),
                lambda turn_id=turn_id: world.turn(conversation_id, turn_id, wait_s=5),
                lambda turn_id=turn_id: world.service.cancel_turn(conversation_id, turn_id, None),
                lambda turn_id=turn_id: world.service.resume_turn(
                    conversation_id, turn_id, {"request_id": "r", "answer": 1}, None
                ),
                lambda turn_id=turn_id: world.post(conversation_id, turn_id, b""),
            ):
                with pytest.raises(RemoteProtocolError) as refused:
                    await asked()
                assert refused.value.code == "turn_not_found"


@pytest.mark.requirement("gateway:read:memory")
async def test_both_answers_of_a_finished_turn_are_the_same_before_and_after_it_left_memory() -> (
    None
):
    settings = GatewaySettings(conversations_cached_max=1)
    async with gateway(settings=settings, engines={"s": ScriptEngine(answering("A"))}) as world:
        conversation_id = await world.conversation()
        turn = await world.ask(conversation_id)
        while world.service.turns_in_flight:
            await anyio.lowlevel.checkpoint()
        for _ in range(3):
            await world.service.head(await world.conversation(), None)

        assert world.service._registry.peek(conversation_id) is None
        assert await world.turn(conversation_id, turn["id"]) == turn


class CountingStore(MemoryStore):
    """Counts the pages of turns that were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.turn_page_count = 0

    async def list_turns(
        self, conversation_id: str, *, cursor: str | None, limit: int
    ) -> Page[TurnRow]:
        self.turn_page_count += 1
        return await super().list_turns(conversation_id, cursor=cursor, limit=limit)


async def test_a_snapshot_with_an_imported_answer_does_not_look_through_all_turns() -> None:
    store = CountingStore()
    settings = GatewaySettings(snapshot_messages_max=4)
    async with gateway(store=store, settings=settings) as world:
        conversation_id = await world.conversation()
        for _ in range(29):
            await world.ask(conversation_id)
        turn = await world.ask(conversation_id)
        imported: dict[str, Json] = {"role": "assistant", "content": "from elsewhere"}
        await world.service.append_message(conversation_id, imported, None)
        store.turn_page_count = 0

        state, _seq = await snapshot_state(world, conversation_id, "owner")

        assert store.turn_page_count <= 2
        assert state.turns[-1].turn_id == turn["id"]
        assert len(state.messages) == 4
