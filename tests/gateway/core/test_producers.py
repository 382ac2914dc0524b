"""Outside producers: every line exactly once, whatever breaks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.errors import BlockwireError, RemoteProtocolError, StoreError
from blockwire.gateway.settings import GatewaySettings
from blockwire.gateway.turns.producers import split_lines
from blockwire.jsontext import Json
from blockwire.ports import Append, Appended
from blockwire.stores import MemoryStore
from tests.gateway.core.conftest import OpenStore
from tests.gateway.core.world import (
    ScriptEngine,
    World,
    gateway,
    line,
    numbered,
    stream_of,
    stuck_after,
)

pytestmark = pytest.mark.anyio


class Turn:
    """An external turn and the lines of its producer."""

    def __init__(self, world: World, conversation_id: str, turn_id: str) -> None:
        self.world = world
        self.conversation_id = conversation_id
        self.id = turn_id

    def start(self, block_id: str = "b1", **members: Json) -> dict[str, Json]:
        block = {"id": block_id, "type": "prose", "markdown": "", **members}
        return {"type": "content.block.started", "turn_id": self.id, "block": block}

    def delta(self, text: str, block_id: str = "b1") -> dict[str, Json]:
        return {
            "type": "content.block.delta",
            "turn_id": self.id,
            "block_id": block_id,
            "field": "markdown",
            "text": text,
        }

    def done(self, block_id: str = "b1") -> dict[str, Json]:
        return {"type": "content.block.completed", "turn_id": self.id, "block_id": block_id}

    def end(self, status: str = "completed", **members: Json) -> dict[str, Json]:
        return {"type": f"turn.{status}", "turn_id": self.id, "status": status, **members}

    async def post(self, *chunks: bytes, **more: Any) -> list[dict[str, Json]]:
        return await self.world.post(self.conversation_id, self.id, *chunks, **more)

    async def refusal(self, *chunks: bytes, **more: Any) -> tuple[str, str | None]:
        with pytest.raises(BlockwireError) as refused:
            await self.post(*chunks, **more)
        return refused.value.code, refused.value.pointer

    async def text(self) -> str:
        turn = await self.world.turn(self.conversation_id, self.id)
        return "".join(block.get("markdown", "") for block in turn["message"]["content"])

    async def read(self) -> dict[str, Any]:
        return await self.world.turn(self.conversation_id, self.id)


async def external(world: World) -> Turn:
    conversation_id = await world.conversation()
    return Turn(world, conversation_id, await world.submit(conversation_id, engine="external"))


async def test_a_producer_streams_an_answer_and_is_told_what_is_durable(
    open_store: OpenStore,
) -> None:
    async with gateway(store=open_store()) as world:
        turn = await external(world)

        acks = await turn.post(
            numbered(1, turn.start(), turn.delta("Hel")),
            numbered(3, turn.delta("lo"), turn.done()),
            numbered(5, turn.end()),
        )

        assert acks == [
            {"producer_seq": 2, "seq": 4},
            {"producer_seq": 4, "seq": 6},
            {"producer_seq": 5, "seq": 7},
        ]
        read = await turn.read()
        assert (read["status"], await turn.text(), read["seq"]) == ("completed", "Hello", 7)


@pytest.mark.requirement("gateway:producer:cuts")
async def test_the_answer_does_not_depend_on_how_the_upload_was_cut() -> None:
    async with gateway() as world:
        whole, bytewise = await external(world), await external(world)
        for turn, size in ((whole, 10_000), (bytewise, 1)):
            data = numbered(1, turn.start(), turn.delta("ä\u2028"), turn.done(), turn.end())[:-1]
            await turn.post(*(data[i : i + size] for i in range(0, len(data), size)))

        assert await whole.text() == await bytewise.text() == "ä\u2028"


async def test_lines_without_numbers_are_taken_as_they_come() -> None:
    async with gateway() as world:
        turn = await external(world)

        acks = await turn.post(line(**turn.start()) + b"\r\n \n" + line(**turn.delta("A")))

        assert acks == [{"producer_seq": 0, "seq": 4}]
        assert await turn.post(line(**turn.delta("A"))) == [{"producer_seq": 0, "seq": 5}]
        assert await turn.text() == "AA"


@pytest.mark.requirement("gateway:producer:repeat")
@pytest.mark.requirement("gateway:producer:gap")
async def test_a_repeat_is_acknowledged_and_ignored_and_a_gap_is_refused() -> None:
    async with gateway() as world:
        turn = await external(world)
        await turn.post(numbered(1, turn.start(), turn.delta("A")))

        repeated = await turn.post(numbered(1, turn.start(), turn.delta("A"), turn.delta("B")))
        only_old = await turn.post(numbered(2, turn.delta("A")))
        gap = await turn.refusal(numbered(5, turn.delta("X")))

        assert repeated == only_old == [{"producer_seq": 3, "seq": 5}]
        assert gap == ("producer_gap", "/producer_seq")
        assert await turn.text() == "AB"


@pytest.mark.requirement("gateway:producer:refused")
async def test_what_came_before_a_refused_line_is_committed_and_acknowledged() -> None:
    async with gateway() as world:
        turn = await external(world)
        answers = world.service.post_events(
            turn.conversation_id,
            turn.id,
            epoch=1,
            chunks=stream_of(
                numbered(1, turn.start(), turn.delta("A"), turn.delta("B", "b9"))
                + numbered(4, turn.delta("C"))
            ),
            tenant=None,
        )

        assert await anext(answers) == {"producer_seq": 2, "seq": 4}
        with pytest.raises(RemoteProtocolError) as refused:
            await anext(answers)

        assert refused.value.code == "block_not_found"
        # The number of the refused line is still free.
        assert await turn.post(numbered(3, turn.delta("B"))) == [{"producer_seq": 3, "seq": 5}]
        assert await turn.text() == "AB"


@pytest.mark.requirement("gateway:producer:not-allowed")
async def test_each_refusal_has_its_code_and_changes_nothing() -> None:
    async with gateway() as world:
        turn = await external(world)
        await turn.post(line(**turn.start()))
        message = {"id": "m", "role": "user", "status": "completed", "content": [], "created_at": 1}
        refusals: list[tuple[bytes, str]] = [
            (b"{\n", "invalid_json"),
            (b"[]\n", "invalid_event"),
            (b"{}\n", "invalid_event"),
            (b'{"type":"x","type":"y"}\n', "duplicate_member"),
            (b'{"type":"x","a":1e999}\n', "number_out_of_range"),
            (b'{"type":"x","a":"\\ud800"}\n', "invalid_unicode"),
            (b'{"type":"Big"}\n', "invalid_enum"),
            (line(type="x", aB=1), "invalid_key"),
            (line(**turn.delta("x"), producer_seq=0), "invalid_member"),
            (line(**turn.delta("x"), producer_seq="1"), "invalid_member"),
            (line(**turn.delta("x"), producer_seq=True), "invalid_member"),
            (line(**{**turn.delta("x"), "turn_id": "turn_other"}), "turn_mismatch"),
            (line(**{**turn.delta("x"), "field": "text"}), "field_not_mutable"),
            (line(**turn.delta("x", "b2")), "block_not_found"),
            (line(**turn.start()), "block_exists"),
            (line(**turn.end(), extra={"aB": 1}), "invalid_key"),
            (line(**{**turn.end(), "status": "failed"}), "invalid_enum"),
            (line(type="message.created", message=message), "event_not_allowed"),
            (line(type="subscription.ready"), "event_not_allowed"),
            (line(type="conversation.deleted"), "event_not_allowed"),
            (line(type="turn.resumed", turn_id=turn.id), "turn_not_suspended"),
        ]
        before = await turn.read()

        for data, code in refusals:
            assert (await turn.refusal(data))[0] == code, data

        assert await turn.read() == before
        assert len(await world.events(turn.conversation_id)) == 3


@pytest.mark.requirement("gateway:producer:stamp")
async def test_what_a_producer_says_about_its_own_numbers_is_ignored() -> None:
    async with gateway() as world:
        turn = await external(world)

        await turn.post(
            line(**turn.start(), seq=99, prev_seq=98, ts=5, conversation_id="conv_x")
            + line(type="turn.started", turn_id=turn.id, role="system", created_at=1)
            + line(type="agent.mood", mood="good", seq=5)
        )

        events = await world.events(turn.conversation_id)
        assert [e["type"] for e in events[2:]] == ["content.block.started", "agent.mood"]
        assert [e["seq"] for e in events] == [1, 2, 3, 4]
        assert {e["conversation_id"] for e in events} == {turn.conversation_id}
        assert len(await world.events(turn.conversation_id, "public")) == 3


async def test_an_ignored_line_counts_for_the_numbers_of_its_producer(
    open_store: OpenStore,
) -> None:
    async with gateway(store=open_store()) as world:
        turn = await external(world)
        started: dict[str, Json] = {
            "type": "turn.started",
            "turn_id": turn.id,
            "role": "assistant",
            "created_at": 1,
        }

        acks = await turn.post(numbered(1, started), numbered(2, turn.start()))

        assert acks == [{"producer_seq": 1, "seq": 2}, {"producer_seq": 2, "seq": 3}]


@pytest.mark.requirement("gateway:producer:end")
@pytest.mark.requirement("gateway:producer:after-the-end")
async def test_the_end_settles_what_is_open_and_then_nothing_more_is_taken(
    open_store: OpenStore,
) -> None:
    async with gateway(store=open_store()) as world:
        turn = await external(world)
        tool: dict[str, Json] = {
            "type": "content.block.started",
            "turn_id": turn.id,
            "block": {"id": "t1", "type": "tool", "tool": "ls", "status": "running"},
        }
        last = numbered(1, turn.start(), tool, turn.end("failed", error_code="no_luck"))
        await turn.post(last)

        read = await turn.read()
        assert read["status"] == "failed"
        assert [b["type"] for b in read["message"]["content"]] == ["prose", "tool", "error"]
        assert read["message"]["content"][1]["status"] == "failed"
        assert read["error"]["code"] == "no_luck"
        # A lost acknowledgement is asked for again, exactly; nothing else is heard.
        assert await turn.post(last) == [{"producer_seq": 3, "seq": read["seq"]}]
        assert await turn.refusal(numbered(4, turn.start("b2"))) == ("turn_terminal", None)
        assert await turn.refusal(line(**turn.start("b2"))) == ("turn_terminal", None)
        assert await turn.refusal() == ("turn_terminal", None)


async def test_lines_after_the_end_in_the_same_chunk_are_refused() -> None:
    async with gateway() as world:
        turn = await external(world)

        code = await turn.refusal(line(**turn.end()) + line(**turn.start()))

        assert code == ("turn_terminal", None)
        assert (await turn.read())["status"] == "completed"


@pytest.mark.requirement("gateway:producer:interrupted")
async def test_a_producer_cannot_claim_that_it_was_interrupted() -> None:
    async with gateway() as world:
        turn = await external(world)

        await turn.post(line(**turn.end("failed", reason="interrupted")))

        read = await turn.read()
        assert (read["status"], read["error"]["code"]) == ("failed", "turn_failed")


async def test_a_notice_explains_a_cancel_but_no_failure() -> None:
    notice = {"id": "n1", "type": "notice", "code": "history_cut", "message": "Cut."}
    for status, types in (("failed", ["notice", "error"]), ("cancelled", ["notice"])):
        async with gateway() as world:
            turn = await external(world)
            started = {"type": "content.block.started", "turn_id": turn.id, "block": notice}

            await turn.post(line(**started) + line(**turn.end(status)))

            message = (await turn.read())["message"]
            assert [block["type"] for block in message["content"]] == types


@pytest.mark.requirement("gateway:producer:redacted")
@pytest.mark.requirement("content:redact:not-answers")
async def test_diagnostics_of_a_producer_are_redacted_and_its_answer_is_not() -> None:
    secret = "sk-proj-" + "a1B2c3D4" * 4
    async with gateway() as world:
        turn = await external(world)
        error = {"id": "e1", "type": "error", "code": "x", "message": f"key {secret}"}
        tool = {"id": "t1", "type": "tool", "tool": "x", "status": "failed", "error": [secret, {}]}

        await turn.post(
            line(type="content.block.started", turn_id=turn.id, block=error)
            + line(type="content.block.started", turn_id=turn.id, block=tool)
            + line(
                type="content.block.updated", turn_id=turn.id, block_id="t1", set={"error": secret}
            )
            + line(type="content.block.completed", turn_id=turn.id, block_id="t1", block=tool)
            + line(**turn.end("failed"))
        )

        assert secret not in str(await world.events(turn.conversation_id))


@pytest.mark.requirement("gateway:producer:epoch")
@pytest.mark.requirement("gateway:producer:foreign")
async def test_only_the_producer_of_this_epoch_and_of_an_external_turn_may_write() -> None:
    engines = {"script": ScriptEngine(stuck_after(lambda _id: []))}
    async with gateway(engines=engines) as world:
        turn = await external(world)
        conversation_id = await world.conversation()
        own = Turn(world, conversation_id, await world.submit(conversation_id, engine="script"))

        assert await turn.refusal(line(**turn.start()), epoch=0) == ("epoch_fenced", None)
        assert await turn.refusal(line(**turn.start()), epoch=2) == ("epoch_fenced", None)
        assert (await own.refusal(line(**own.start())))[0] == "turn_not_external"
        assert await turn.post(line(**turn.start()), epoch=None) == [{"producer_seq": 0, "seq": 3}]
        await turn.post(line(**turn.end()))
        assert await turn.refusal(line(**turn.start()), epoch=0) == ("epoch_fenced", None)


@pytest.mark.requirement("gateway:producer:uploads")
async def test_two_uploads_at_once_do_not_mix_their_lines_up() -> None:
    async with gateway() as world:
        turn = await external(world)
        pieces = [turn.start(), *(turn.delta(f"{n} ") for n in range(2, 101))]

        async def upload() -> None:
            await turn.post(*(numbered(n, piece) for n, piece in enumerate(pieces, start=1)))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(upload)

        assert await turn.text() == "".join(f"{n} " for n in range(2, 101))


async def test_an_upload_that_hangs_does_not_shut_out_the_next() -> None:
    async with gateway() as world:
        turn = await external(world)
        hangs = anyio.Event()

        async def chunks() -> Any:
            yield numbered(1, turn.start())
            hangs.set()
            await anyio.sleep_forever()

        async def hang() -> None:
            async for _ack in world.service.post_events(
                turn.conversation_id, turn.id, epoch=1, chunks=chunks(), tenant=None
            ):
                pass

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hang)
            await hangs.wait()

            await turn.post(numbered(2, turn.delta("A"), turn.end()))

            tasks.cancel_scope.cancel()
        assert (await turn.read())["status"] == "completed"


async def test_a_cancelled_turn_takes_nothing_more() -> None:
    async with gateway() as world:
        turn = await external(world)
        await turn.post(numbered(1, turn.start(), turn.delta("A")))

        await world.service.cancel_turn(turn.conversation_id, turn.id, None)

        assert await turn.refusal(numbered(3, turn.delta("B"))) == ("turn_terminal", None)
        assert await turn.post(numbered(2, turn.delta("A"))) == [{"producer_seq": 2, "seq": 8}]
        assert (await turn.read())["status"] == "cancelled"
        assert await turn.text() == "A"


@pytest.mark.requirement("gateway:resume:first")
@pytest.mark.requirement("gateway:resume:answer")
async def test_a_suspended_turn_goes_on_after_the_first_answer(open_store: OpenStore) -> None:
    request: dict[str, Json] = {"id": "req_1", "kind": "approval", "prompt": "May I?"}
    async with gateway(store=open_store()) as world:
        turn = await external(world)
        await turn.post(line(type="turn.suspended", turn_id=turn.id, request=request))
        assert (await turn.read())["request"] == request
        assert (await turn.refusal(line(**turn.end())))[0] == "turn_suspended"

        async def answer(request_id: str, value: Json) -> str:
            body: Json = {"request_id": request_id, "answer": value}
            resumed = await world.service.resume_turn(turn.conversation_id, turn.id, body, None)
            return str(resumed["status"])

        with pytest.raises(RemoteProtocolError) as refused:
            await answer("req_2", "x")
        assert refused.value.code == "request_mismatch"
        assert await answer("req_1", "yes") == "running"
        with pytest.raises(RemoteProtocolError) as refused:
            await answer("req_1", "no")
        assert refused.value.code == "turn_not_suspended"
        resumed = (await world.events(turn.conversation_id))[-1]
        assert (resumed["request_id"], resumed["answer"]) == ("req_1", "yes")
        await turn.post(line(**turn.end()))
        with pytest.raises(RemoteProtocolError) as refused:
            await answer("req_1", "no")
        assert refused.value.code == "turn_terminal"


async def test_a_suspended_external_turn_survives_a_restart_and_its_numbers_go_on(
    open_store: OpenStore,
) -> None:
    request: dict[str, Json] = {"id": "req_1", "kind": "approval", "prompt": "May I?"}
    async with gateway(store=open_store()) as world:
        turn = await external(world)
        await turn.post(
            numbered(
                1,
                turn.start(),
                turn.delta("A"),
                {"type": "turn.suspended", "turn_id": turn.id, "request": request},
            )
        )
        before = await turn.read()
    async with gateway(store=open_store()) as world:
        turn.world = world
        assert await turn.read() == before
        await world.service.resume_turn(
            turn.conversation_id, turn.id, {"request_id": "req_1", "answer": None}, None
        )

        await turn.post(numbered(3, turn.delta("x")))
        await turn.post(numbered(4, turn.delta("B"), turn.end()))

        assert (await turn.read())["status"] == "completed"
        assert await turn.text() == "AB"


async def test_keys_are_converted_when_asked_for() -> None:
    async with gateway() as world:
        turn = await external(world)
        started = turn.start()
        data = line(type="content.block.started", turnId=turn.id, block=started["block"])

        assert (await turn.refusal(data))[0] == "invalid_key"
        assert await turn.post(data, convert=True) == [{"producer_seq": 0, "seq": 3}]


@pytest.mark.requirement("gateway:producer:limits")
async def test_sizes_are_bounded_and_what_fits_is_kept() -> None:
    settings = GatewaySettings(event_bytes_max=300, turn_bytes_max=650)
    async with gateway(settings=settings) as world:
        turn = await external(world)
        long = line(**turn.delta("x" * 400))

        assert await turn.refusal(line(**turn.start()) + long) == ("limit_exceeded", None)
        assert await turn.refusal(long[:350]) == ("limit_exceeded", None)
        assert await turn.post(line(**turn.delta("A"))) == [{"producer_seq": 0, "seq": 4}]
        await turn.post(line(**turn.delta("B" * 100)))
        assert await turn.refusal(line(**turn.delta("B" * 180))) == ("limit_exceeded", None)
        assert (await turn.read())["status"] == "running"


@pytest.mark.requirement("gateway:producer:silent")
async def test_a_producer_that_falls_silent_has_its_turn_ended() -> None:
    settings = GatewaySettings(external_idle_s=0.02)
    async with gateway(settings=settings) as world:
        world.service._clock.s = 0.0  # type: ignore[attr-defined]
        turn = await external(world)
        await turn.post(line(**turn.start()))
        world.service._clock.s = 1.0  # type: ignore[attr-defined]

        read = await world.ended(turn.conversation_id, turn.id)

        assert read["error"]["code"] == "producer_silent"


class FailingStore(MemoryStore):
    """A store whose commits fail while it is broken."""

    is_broken = False

    async def append(self, change: Append) -> Appended:
        if self.is_broken:
            raise StoreError("store_full", "no space left")
        return await super().append(change)


@pytest.mark.requirement("gateway:producer:exact")
async def test_an_upload_that_the_store_could_not_take_is_repeated_without_loss_or_doubling() -> (
    None
):
    store = FailingStore()
    async with gateway(store=store) as world:
        turn = await external(world)
        await turn.post(numbered(1, turn.start(), turn.delta("A")))
        store.is_broken = True
        assert await turn.refusal(numbered(3, turn.delta("B"))) == ("store_full", None)
        assert await turn.text() == "A"
        store.is_broken = False

        await turn.post(numbered(2, turn.delta("A"), turn.delta("B"), turn.end()))

        assert await turn.text() == "AB"


@given(
    lines=st.lists(st.binary(max_size=5).map(lambda b: b.replace(b"\n", b"x")), max_size=8),
    cuts=st.lists(st.integers(0, 60), max_size=8),
    lines_max=st.integers(1, 3),
)
def test_lines_do_not_depend_on_where_they_are_cut(
    lines: list[bytes], cuts: list[int], lines_max: int
) -> None:
    data = b"\n".join(lines)
    edges = [0, *sorted(cut for cut in cuts if cut <= len(data)), len(data)]
    chunks = [data[a:b] for a, b in pairwise(edges)]

    async def read() -> list[list[bytes]]:
        found = split_lines(stream_of(*chunks), line_bytes_max=5, lines_max=lines_max)
        return [some async for some in found]

    groups = anyio.run(read)

    assert [one for group in groups for one in group] == [one for one in lines if one.strip()]
    assert all(len(group) <= lines_max for group in groups)
