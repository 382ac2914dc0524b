"""The blocking client: the same surface, threads, and Ctrl-C."""

from __future__ import annotations

import inspect
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from blockwire.client import Acknowledgement, AsyncClient, Client, ClientError
from blockwire.gateway.settings import EngineProfile
from tests.client.events import CONVERSATION, block, completed, delta, ended
from tests.client.fakes import SSE, Send, Stall, playing
from tests.client.live import serving
from tests.gateway.core.world import ScriptEngine, answering


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    engines = {"script": ScriptEngine(answering("Hello", "!")), "ext": ScriptEngine(answering())}
    profiles = {"ext": EngineProfile(is_external=True)}
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serving(engines=engines, profiles=profiles)) as live,
    ):
        yield live.url


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url) as made:
        yield made


def public(kind: type) -> dict[str, Any]:
    return {name: value for name, value in inspect.getmembers(kind) if not name.startswith("_")}


def test_both_clients_have_the_same_surface() -> None:
    asynchronous, blocking = public(AsyncClient), public(Client)
    asynchronous["close"] = asynchronous.pop("aclose")

    assert blocking.keys() == asynchronous.keys()
    for name in blocking.keys() - {"base_url", "post_events"}:
        assert (
            inspect.signature(blocking[name]).parameters
            == inspect.signature(asynchronous[name]).parameters
        ), name


def test_a_program_without_a_loop_does_it_all(client: Client, url: str) -> None:
    assert client.health()
    assert client.base_url == url
    assert "script" in client.capabilities().engines
    conversation = client.create_conversation(title="t")
    assert client.update_conversation(conversation.id, tags=["x"]).tags == ["x"]
    assert client.read_conversation(conversation.id).title == "t"
    assert conversation.id in [listed.id for listed in client.list_conversations()]
    imported = client.append_message(conversation.id, {"role": "user", "content": "m"})

    turn = client.submit(conversation.id, "Hi")
    over = client.wait_turn(conversation.id, turn.id)
    states = list(client.ask(conversation.id, "Hi"))
    followed = list(client.follow(over))
    events = [event.seq for _state, event in client.events(conversation.id, until_idle=True)]
    watched = list(client.watch(conversation.id, until_idle=True))

    assert over.message == client.read_turn(conversation.id, turn.id).message
    assert states[-1].status == followed[-1].status == "completed"
    assert events == list(range(1, len(events) + 1))
    messages = list(client.list_messages(conversation.id))
    assert watched[-1].messages == messages
    assert messages[0] == imported
    assert len(list(client.list_turns(conversation.id))) == 2
    with pytest.raises(ClientError) as caught:
        client.cancel(conversation.id, turn.id)
    assert caught.value.code == "turn_terminal"
    with pytest.raises(ClientError) as caught:
        client.resume(conversation.id, turn.id, "req_1", answer=True)
    assert caught.value.code == "turn_terminal"
    client.delete_conversation(conversation.id)


def script(turn_id: str) -> list[dict[str, Any]]:
    return [{**step, "turn_id": turn_id} for step in (block(), delta("a"), completed(), ended())]


def test_events_are_posted_from_the_callers_thread(client: Client) -> None:
    conversation = client.create_conversation()
    turn = client.submit(conversation.id, "Hi", engine="ext")
    threads: set[int] = set()
    told: list[Acknowledgement] = []

    def source() -> Iterator[dict[str, Any]]:
        for event in script(turn.id):
            threads.add(threading.get_ident())
            yield event

    last = client.post_events(
        conversation.id, turn.id, source(), epoch=turn.epoch, on_acknowledged=told.append
    )

    assert last.producer_seq == 4
    assert told[-1] == last
    assert threads == {threading.get_ident()}


def test_an_upload_that_is_refused_says_why_and_stops_taking_events(client: Client) -> None:
    conversation = client.create_conversation()
    turn = client.submit(conversation.id, "Hi", engine="ext")
    endless = iter(lambda: {**delta("x"), "turn_id": turn.id}, None)

    with pytest.raises(ClientError) as caught:
        client.post_events(conversation.id, turn.id, endless)

    assert caught.value.code == "block_not_found"


class SourceBrokeError(Exception):
    pass


def test_what_breaks_the_source_is_raised_as_it_is(client: Client) -> None:
    conversation = client.create_conversation()
    turn = client.submit(conversation.id, "Hi", engine="ext")

    def source() -> Iterator[dict[str, Any]]:
        yield script(turn.id)[0]
        raise SourceBrokeError

    with pytest.raises(SourceBrokeError):
        client.post_events(conversation.id, turn.id, source())


def test_leaving_a_stream_early_lets_go_of_its_connection(client: Client) -> None:
    conversation = client.create_conversation()
    client.append_message(conversation.id, {"role": "user", "content": "m"})

    with closing(client.watch(conversation.id)) as states:
        assert next(states).seq == 1

    with pytest.raises(StopIteration):
        next(states)


def test_closing_twice_is_harmless(url: str) -> None:
    client = Client(url)

    client.close()
    client.close()

    with pytest.raises(ClientError) as caught:
        client.health()
    assert caught.value.code == "client_closed"


PROGRAM = """
import sys
from blockwire.client import Client

with Client(sys.argv[1]) as client:
    print("connected", flush=True)
    try:
        for state in client.watch("conv_a"):
            print("state", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        raise SystemExit(130)
"""


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is a signal on POSIX")
async def test_ctrl_c_ends_a_wait_at_once() -> None:
    async with playing([SSE, Send(b": hello\n\n"), Stall()]) as server:
        process = await anyio.open_process(
            [sys.executable, "-c", PROGRAM, server.url], stderr=subprocess.PIPE
        )
        async with process:
            await server.stalled.wait()
            process.send_signal(signal.SIGINT)
            await server.left.wait()
            assert await process.wait() == 130


class _Interrupting:
    """A portal to the loop, at which a Ctrl-C comes when a task was begun and nobody waits for it yet."""

    def __init__(self, portal: BlockingPortal, begun: Callable[[], object]) -> None:
        self._portal = portal
        self._begun: Callable[[], object] | None = begun

    def start_task_soon(self, work: Callable[..., Any], *arguments: Any) -> Any:
        future = self._portal.start_task_soon(work, *arguments)
        if (begun := self._begun) is not None:
            self._begun = None
            begun()
            raise KeyboardInterrupt
        return future


def test_ctrl_c_just_before_a_wait_lets_its_stream_be_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = [SSE, Send(b": hello\n\n"), Stall()]
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(playing(script)) as server,
        Client(server.url) as client,
    ):
        broken = _Interrupting(client._portal, lambda: portal.call(server.stalled.wait))
        monkeypatch.setattr(client, "_portal", broken)
        with pytest.raises(KeyboardInterrupt):
            next(client.watch(CONVERSATION))
        portal.call(server.left.wait)


def test_ctrl_c_inside_a_wait_lets_its_stream_be_closed() -> None:
    main = threading.get_ident()
    script = [SSE, Send(b": hello\n\n"), Stall()]
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(playing(script)) as server,
        Client(server.url) as client,
    ):

        def interrupt() -> None:
            portal.call(server.stalled.wait)
            signal.pthread_kill(main, signal.SIGINT)

        interrupting = threading.Thread(target=interrupt)
        interrupting.start()
        states = client.watch(CONVERSATION)
        with pytest.raises(KeyboardInterrupt):
            next(states)
        portal.call(server.left.wait)
        interrupting.join()
