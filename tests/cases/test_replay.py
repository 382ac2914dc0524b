"""Reconnecting and replaying: cursors outlive connections, restarts and their owners."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest

from blockwire.client import AsyncClient
from blockwire.content import ConversationState
from blockwire.jsontext import encode_json
from tests.client.events import (
    CONVERSATION,
    block,
    completed,
    delta,
    ended,
    frames,
    numbered,
    ready,
    started,
    text_of,
)
from tests.client.fakes import SSE, Cut, Reset, Send, client_of, playing, whole
from tests.client.live import serving
from tests.gateway.core.world import ScriptEngine, answering
from tests.gateway.http.surface import a_turn, peers, surface
from tests.gateway.http.surface import delta as delta_draft
from tests.support.cases import case, case_input
from tests.support.programs import Gateway, call, environment

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

OVER = whole("204 No Content", b"")


def stamped(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events of a case with what a gateway adds."""
    return [
        {**event, "prev_seq": event["seq"] - 1, "conversation_id": CONVERSATION, "ts": event["seq"]}
        for event in events
    ]


async def read(client: AsyncClient, **options: Any) -> tuple[list[int], ConversationState]:
    seqs: list[int] = []
    last = ConversationState()
    async with client, aclosing(client.events(CONVERSATION, **options)) as events:
        async for state, event in events:
            seqs.append(event.seq)
            last = state
    return seqs, last


@case("R04")
async def test_the_cursor_outlives_its_connection_and_a_replay_is_dropped_by_number() -> None:
    given = case_input("R04")
    first, more = stamped(given["events"]), stamped(given["more"])
    # A careless server replays everything; a careful one honours the cursor.
    replayed = [SSE, Send(ready() + frames([*first, *more])), Cut()]
    async with playing([SSE, Send(ready() + frames(first)), Reset()], replayed, OVER) as server:
        seqs, state = await read(client_of(server.url), until_idle=True)

    assert server.cursors[1] == "3"
    assert seqs == [1, 2, 3, 4, 5, 6]
    assert text_of(state, "t1") == "Hello!"


# It goes on for as long as there is a gateway, and does not outlive one that is killed.
STUBBORN = """cat > /dev/null
printf 'one two three'
while kill -0 $PPID 2> /dev/null; do sleep 0.1; done
"""


def wait_for_text(gateway: Gateway, conversation: str, turn: str, text: str) -> dict[str, Any]:
    """Return the turn once its first block says ``text``; long polls, no pauses."""
    after = 0
    while True:
        found: dict[str, Any] = call(gateway.url, f"/v1/conversations/{conversation}/turns/{turn}")
        blocks = found["message"]["content"]
        if blocks and blocks[0].get("markdown") == text:
            return found
        page = call(
            gateway.url,
            f"/v1/conversations/{conversation}/events?after={after}&wait=10",
            headers={"accept": "application/json"},
        )
        after = int(page["next_cursor"])


def submit(gateway: Gateway, conversation: str, content: str, **headers: str) -> dict[str, Any]:
    found: dict[str, Any] = call(
        gateway.url,
        f"/v1/conversations/{conversation}/turns",
        method="POST",
        body={"content": content},
        headers=headers,
    )
    return found


@case("R06")
def test_a_killed_answer_is_interrupted_once_and_the_conversation_goes_on(tmp_path: Path) -> None:
    (tmp_path / "agent.sh").write_text(STUBBORN, encoding="utf-8")
    arguments = ("--store", f"sqlite:///{tmp_path}/s.db", "--program", f"sh {tmp_path}/agent.sh")
    with Gateway(environment(tmp_path), *arguments, cwd=tmp_path) as gateway:
        conversation = call(gateway.url, "/v1/conversations", method="POST", body={})["id"]
        turn = submit(gateway, conversation, "hello")["id"]
        wait_for_text(gateway, conversation, turn, "one two three")
        gateway.kill()
        gateway.restart()
        path = f"/v1/conversations/{conversation}/turns/{turn}"

        found = call(gateway.url, path)

        assert found["status"] == "interrupted"
        content = found["message"]["content"]
        assert content[0]["markdown"] == "one two three"
        assert [block.get("code") for block in content] == [None, "turn_interrupted"]
        # No one ran it again, and the next question is taken.
        turns = call(gateway.url, f"/v1/conversations/{conversation}/turns")["items"]
        assert [item["id"] for item in turns] == [turn]
        assert submit(gateway, conversation, "again")["status"] == "running"


@case("R08")
async def test_a_broken_stream_is_no_failed_turn_and_the_same_question_starts_no_second() -> None:
    release = anyio.Event()

    async def script(request: Any) -> Any:
        await release.wait()
        async for event in answering("the answer")(request):
            yield event

    engine = ScriptEngine(script)
    async with serving(engines={"script": engine}) as live, AsyncClient(live.url) as client:
        conversation = (await client.create_conversation()).id
        turn = await client.submit(conversation, "Hi", idempotency_key="m1")
        # Its stream drops before the first event of the answer; nobody reads while it ends.
        async with aclosing(client.events(conversation)) as events:
            await anext(events)
        release.set()
        await client.wait_turn(conversation, turn.id, wait_s=10)

        states = [state async for state in client.follow(turn)]
        again = await client.submit(conversation, "Hi", idempotency_key="m1")

        assert states[-1].blocks[0].block["markdown"] == "the answer"
        assert again.id == turn.id
        assert len(engine.requests) == 1


@case("R11")
@pytest.mark.parametrize(
    ("pieces", "whole_text"), [(["Ev", "al", "u", "ate"], "Evaluate"), (["ha", "ha"], "haha")]
)
async def test_what_live_repeats_of_the_replay_is_told_by_its_number(
    pieces: list[str], whole_text: str
) -> None:
    events = numbered(started(), block(), *map(delta, pieces), completed(), ended())
    overlapping = [SSE, Send(ready() + frames(events[:-3]) + frames(events[2:])), Cut()]
    async with playing(overlapping, OVER) as server:
        seqs, state = await read(client_of(server.url), until_idle=True)

    assert seqs == [event["seq"] for event in events]
    assert text_of(state) == whole_text


@case("R12")
async def test_heartbeats_take_no_number_and_push_nothing_out() -> None:
    async with surface() as s, peers(s.app) as connect:
        name = await s.bare_conversation()
        await s.log(name, *a_turn("a", "b", "c", "d", "e", ends=False))
        first = await connect(f"/v1/conversations/{name}/events")
        await first.until_count(8)
        assert first.seqs[-1] == 7
        first.leave()
        for text in "fghij":
            await s.log(name, delta_draft(text))
        for _ in range(40):
            s.clock.s += 15
            s.app.surface.hub.beat()

        second = await connect(f"/v1/conversations/{name}/events", last_event_id="7")
        await second.until(lambda: second.text.endswith("j"))

        assert second.seqs == [8, 9, 10, 11, 12]
        assert second.values[0]["cursor"] == 7


@case("R13")
def test_the_question_and_finished_blocks_survive_reload_and_restart(tmp_path: Path) -> None:
    with Gateway(environment(tmp_path), "--store", f"sqlite:///{tmp_path}/s.db") as gateway:
        conversation = call(gateway.url, "/v1/conversations", method="POST", body={})["id"]
        turn = call(
            gateway.url,
            f"/v1/conversations/{conversation}/turns",
            method="POST",
            body={"content": "What is it?", "engine": "external"},
        )["id"]
        path = f"/v1/conversations/{conversation}/turns/{turn}"
        lines = [
            block(turn_id=turn, markdown="Looking."),
            completed(turn_id=turn),
            block("k1", turn, type="tool", tool="ls", status="running"),
        ]
        body = b"".join(encode_json(line) + b"\n" for line in lines)
        call(gateway.url, f"{path}/events", method="POST", body=body)

        reloaded = call(gateway.url, f"/v1/conversations/{conversation}/messages")["items"]
        gateway.kill()
        gateway.restart()
        restarted = call(gateway.url, f"/v1/conversations/{conversation}/messages")["items"]

    for items, status in ((reloaded, "running"), (restarted, "failed")):
        question, answer = items
        assert question["content"][0]["markdown"] == "What is it?"
        assert answer["content"][0]["markdown"] == "Looking."
        assert answer["content"][1]["status"] == status
