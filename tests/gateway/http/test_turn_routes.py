"""The line of turns, forks and retries over HTTP, and answers that have not changed."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from blockwire.content import BlockDelta, StreamEvent
from blockwire.gateway.settings import EngineProfile, GatewaySettings
from tests.gateway.core.test_answers import careful, real_guard
from tests.gateway.core.test_queue import Doors
from tests.gateway.core.world import ScriptEngine, answering, prose, stuck_after
from tests.gateway.http.surface import body, json_of, peers, surface

pytestmark = pytest.mark.anyio

CONVERSATIONS = "/v1/conversations"


def code_of(response: Any) -> str:
    return str(json_of(response)["error"]["code"])


@pytest.mark.requirement("gateway:queue:told", "gateway:stream:queued")
async def test_live_readers_hear_of_the_line_without_a_number_and_its_end_is_idle() -> None:
    doors = Doors()
    async with surface(engines={"s": doors.engine}) as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        url = f"{CONVERSATIONS}/{conversation_id}"
        first = await s.world.submit(conversation_id, "1")
        peer = await connect(f"{url}/events?until=idle")
        await peer.until_count(3)

        second = json_of(await s.client.post(f"{url}/turns", **body({"content": "2"})))["id"]
        third = json_of(await s.client.post(f"{url}/turns", **body({"content": "3"})))["id"]
        handed_back = await s.client.post(f"{url}/turns/{third}/cancel")
        told = (await peer.until_count(6))[3:]
        await doors.open(0)
        await doors.open(1)
        await peer.until_ended()

        assert [(event.type, event.last_event_id) for event in told] == [
            ("turn.queued", told[0].last_event_id),
            ("turn.queued", told[0].last_event_id),
            ("turn.dequeued", told[0].last_event_id),
        ]
        assert b"\nevent: turn.queued\n" in peer.raw
        for frame in peer.raw.split(b"\n\n"):
            assert not (b"queued" in frame and frame.startswith(b"id:"))
        assert peer.values[3:6] == [
            {"type": "turn.queued", "conversation_id": conversation_id, "turn_id": second,
             "position": 1},
            {"type": "turn.queued", "conversation_id": conversation_id, "turn_id": third,
             "position": 2},
            {"type": "turn.dequeued", "conversation_id": conversation_id, "turn_id": third,
             "reason": "cancelled"},
        ]  # fmt: skip
        assert (handed_back.status_code, json_of(handed_back)["status"]) == (202, "cancelled")
        ended = [v["turn_id"] for v in peer.values if v["type"] == "turn.completed"]
        assert ended == [first, second]
        back = await s.client.get(f"{url}/events?until=idle", headers={"last-event-id": "12"})
        assert back.status_code == 204


@pytest.mark.requirement("gateway:queue:bound")
async def test_a_full_line_is_429_and_says_when_to_come_back() -> None:
    engine = ScriptEngine(stuck_after(lambda _id: []))
    settings = GatewaySettings(queue_max=1)
    async with surface(engines={"s": engine}, settings=settings) as s:
        url = f"{CONVERSATIONS}/{await s.world.conversation()}/turns"
        answers = [await s.client.post(url, **body({"content": "x"})) for _ in range(3)]

        assert [answer.status_code for answer in answers] == [202, 202, 429]
        assert code_of(answers[2]) == "queue_full"
        assert int(answers[2].headers["retry-after"]) >= 1


async def test_a_fork_and_a_retry_are_new_resources_with_a_place() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation(title="One")
        turn = await s.world.ask(conversation_id)
        url = f"{CONVERSATIONS}/{conversation_id}"
        key = {"idempotency-key": "k"}

        fork = await s.client.post(f"{url}/fork", **body({"turn_id": turn["id"]}))
        bare = await s.client.post(f"{url}/fork")
        retry = await s.client.post(f"{url}/turns/{turn['id']}/retry", headers=key)
        again = await s.client.post(f"{url}/turns/{turn['id']}/retry", headers=key)
        early = await s.client.post(f"{url}/turns/turn_x/retry")

        assert (fork.status_code, bare.status_code) == (201, 201)
        read = await s.client.get(fork.headers["location"])
        assert json_of(read) == json_of(fork)
        assert json_of(fork)["title"] == "One"
        assert (retry.status_code, again.status_code) == (202, 200)
        assert json_of(retry)["retry_of"] == turn["id"]
        assert json_of(retry)["id"] == json_of(again)["id"]
        assert retry.headers["location"].endswith(json_of(retry)["id"])
        assert (early.status_code, code_of(early)) == (404, "turn_not_found")


async def test_a_fork_of_what_runs_is_409() -> None:
    engine = ScriptEngine(stuck_after(lambda _id: []))
    async with surface(engines={"s": engine}) as s:
        conversation_id = await s.world.conversation()
        turn_id = await s.world.submit(conversation_id)
        url = f"{CONVERSATIONS}/{conversation_id}"

        fork = await s.client.post(f"{url}/fork", **body({"turn_id": turn_id}))
        retry = await s.client.post(f"{url}/turns/{turn_id}/retry")

        assert (fork.status_code, code_of(fork)) == (409, "turn_not_over")
        assert (retry.status_code, code_of(retry)) == (409, "turn_not_over")


@pytest.mark.requirement("gateway:answers:etag")
async def test_what_has_not_changed_is_not_sent_again() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        turn = await s.world.ask(conversation_id)
        one = f"{CONVERSATIONS}/{conversation_id}"
        urls = [CONVERSATIONS, one, f"{one}/turns", f"{one}/turns/{turn['id']}", f"{one}/messages"]
        tags = {url: (await s.client.get(url)).headers["etag"] for url in urls}

        for url, tag in tags.items():
            same = await s.client.get(url, headers={"if-none-match": f'"other", W/{tag}'})
            assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag), url
        await s.client.patch(one, **body({"title": "New"}))
        for url in (CONVERSATIONS, one):
            changed = await s.client.get(url, headers={"if-none-match": tags[url]})
            assert changed.status_code == 200
        for url in urls[2:]:
            kept = await s.client.get(url, headers={"if-none-match": tags[url]})
            assert kept.status_code == 304


async def test_a_turn_that_streams_changes_its_tag_with_each_commit() -> None:
    go_on = anyio.Event()

    async def script(request: Any) -> Any:
        for event in _open(request.turn_id):
            yield event
        await go_on.wait()
        yield BlockDelta(request.turn_id, "b1", "markdown", "B")
        await anyio.sleep_forever()

    async with surface(engines={"s": ScriptEngine(script)}) as s:
        conversation_id = await s.world.conversation()
        url = f"{CONVERSATIONS}/{conversation_id}/turns/{await s.world.submit(conversation_id)}"
        await s.world.wait_for_seq(conversation_id, 4)
        tag = (await s.client.get(url)).headers["etag"]

        same = await s.client.get(url, headers={"if-none-match": tag})
        go_on.set()
        await s.world.wait_for_seq(conversation_id, 5)
        grown = await s.client.get(url, headers={"if-none-match": tag})

        assert (same.status_code, grown.status_code) == (304, 200)


def _open(turn_id: str) -> list[StreamEvent]:
    return prose(turn_id, "b1", "A", is_open=True)


@pytest.mark.requirement("gateway:system:owner")
async def test_a_system_prompt_is_in_no_public_answer() -> None:
    async with surface() as s:
        url = f"{CONVERSATIONS}/{await s.world.conversation(system='Be brief.')}"

        for path in (url, CONVERSATIONS):
            owner, public = await s.client.get(path), await s.client.get(path + "?view=public")
            assert b"Be brief." in owner.content
            assert b"Be brief." not in public.content
        changed = await s.client.patch(url + "?view=public", **body({"tags": ["a"]}))
        assert b"Be brief." not in changed.content
        fork = await s.client.post(url + "/fork?view=public")
        assert b"Be brief." not in fork.content
        assert json_of(await s.client.get(fork.headers["location"]))["system"] == "Be brief."


@pytest.mark.requirement("gateway:resume:engine")
async def test_a_question_of_an_engine_is_answered_over_http() -> None:
    profiles = {"s": EngineProfile(takes_answers=True)}
    engines = {"s": ScriptEngine(careful), "other": ScriptEngine(answering("A"))}
    async with surface(engines=engines, profiles=profiles, guard=real_guard) as s:
        conversation_id = await s.world.conversation()
        url = f"{CONVERSATIONS}/{conversation_id}/turns/{await s.world.submit(conversation_id)}"
        await s.world.wait_for_seq(conversation_id, 3)

        waiting = json_of(await s.client.get(url))
        answer = body({"request_id": waiting["request"]["id"], "answer": True})
        taken = await s.client.post(url + "/resume", **answer)
        late = await s.client.post(url + "/resume", **answer)

        assert (waiting["status"], taken.status_code) == ("suspended", 202)
        assert late.status_code == 409
        assert code_of(late) in {"turn_not_suspended", "request_mismatch"}
