"""The README's promises, as a newcomer meets them: real programs, real cuts, real kills."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blockwire.client import Client
from blockwire.content import View
from tests.support.programs import (
    Gateway,
    Network,
    Screen,
    Terminal,
    call,
    command,
    decoded,
    environment,
    run,
)

pytestmark = pytest.mark.timeout(120)

# Waits at the tenth and the twentieth word: the test decides when it goes on, no clock does.
AGENT = """#!/bin/sh
# An agent: the request comes as JSON on standard input, what it prints is the answer.
cat > /dev/null
n=0
while [ $n -lt 40 ]; do
  n=$((n + 1))
  printf 'word%s ' $n
  if [ -p gate$n ]; then read -r go < gate$n; fi
done
"""
WORDS = [f"word{number}" for number in range(1, 41)]


class Gates:
    """Let the agent go on; one for each wait, so that none is passed by another's leave."""

    def __init__(self, folder: Path) -> None:
        self._paths = {number: folder / f"gate{number}" for number in (10, 20)}
        for path in self._paths.values():
            os.mkfifo(path)

    def open(self, number: int) -> None:
        with self._paths[number].open("w", encoding="utf-8") as fifo:
            fifo.write("go\n")

    def close(self) -> None:
        """Release whoever still waits: the agent of a killed gateway outlives it."""
        for path in self._paths.values():
            with contextlib.suppress(OSError):
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    agent = tmp_path / "agent.sh"
    agent.write_text(AGENT, encoding="utf-8")
    agent.chmod(0o755)
    return tmp_path


@pytest.fixture
def env(folder: Path) -> dict[str, str]:
    return environment(folder)


@pytest.fixture
def gates(folder: Path) -> Iterator[Gates]:
    made = Gates(folder)
    yield made
    made.close()


@pytest.fixture
def gateway(folder: Path, env: dict[str, str]) -> Iterator[Gateway]:
    with Gateway(env, "--program", "./agent.sh", cwd=folder) as running:
        yield running


def words_on(screen: Screen) -> list[str]:
    return re.findall(r"word\d+", "\n".join(screen.lines()))


def test_a_shell_script_is_watched_from_a_second_terminal_through_a_network_cut(
    gateway: Gateway, env: dict[str, str], gates: Gates
) -> None:
    with Network(gateway.port) as network:
        watching = Terminal(command("watch", "--url", network.url), env=env)
        asking = Terminal(command("ask", "What is a fold?"), env=env)
        with watching, asking:
            watching.read(lambda: "word10" in words_on(watching.screen) or _waits(watching))
            network.cut()
            gates.open(10)
            # The other terminal, which is not cut, goes on while this one is blind.
            asking.read(lambda: "word15" in words_on(asking.screen))
            network.mend()
            watching.read(lambda: "word15" in words_on(watching.screen))
            gates.open(20)
            assert asking.read_to_end() == 0
            watching.read(lambda: "word40" in words_on(watching.screen))

            assert words_on(watching.screen) == WORDS
            assert words_on(asking.screen) == WORDS
            assert network.cut_count >= 1, "it was a cut, not a late start"
    shown = run("show", env=env)
    assert re.findall(r"word\d+", shown.stdout.decode()) == WORDS


def _waits(terminal: Terminal) -> bool:
    # A word is printed once the next one shows that it is whole.
    return "word9" in words_on(terminal.screen)


def test_a_killed_gateway_leaves_what_was_seen_and_one_interruption(
    gateway: Gateway, env: dict[str, str], gates: Gates
) -> None:
    with Terminal(command("watch"), env=env) as watching:
        with Terminal(command("ask", "What is a fold?"), env=env) as asking:
            asking.read(lambda: _waits(asking))
            watching.read(lambda: _waits(watching))
            gateway.kill()
            gateway.restart()
            assert asking.read_to_end() == 1, "an interrupted answer is no success"
        watching.read(lambda: b"turn_interrupted" in watching.output)

    del gates  # its agent never got further
    for terminal in (asking, watching):
        words = words_on(terminal.screen)
        assert words == WORDS[: len(words)]
        assert len(words) >= 9
        assert terminal.output.count(b"turn_interrupted") == 1
    messages = [decoded(line) for line in run("show", "--json", env=env).stdout.splitlines()]
    assert [block.get("code") for block in messages[1]["content"]] == [None, "turn_interrupted"]
    assert messages[1]["status"] == "failed"
    assert run("check", env=env).stdout == b"ok\n"
    # R06, P04: the conversation takes a new message, and nothing was run again.
    assert "running_turn_id" not in decoded(run("list", "--json", env=env).stdout)


def test_watching_goes_on_when_the_gateway_comes_back_on_another_port(
    gateway: Gateway, env: dict[str, str], gates: Gates
) -> None:
    del gates
    with Terminal(command("watch"), env=env) as watching:
        with Terminal(command("ask", "What is a fold?"), env=env) as asking:
            asking.read(lambda: _waits(asking))
            watching.read(lambda: _waits(watching))
            gateway.kill()
            gateway.port = 0
            gateway.restart()
            assert asking.read_to_end() == 1
        watching.read(lambda: b"turn_interrupted" in watching.output)

    assert watching.output.count(b"turn_interrupted") == 1
    words = words_on(watching.screen)
    assert words == WORDS[: len(words)]


def test_ctrl_c_stops_the_answer_keeps_its_beginning_and_says_so(
    gateway: Gateway, env: dict[str, str], gates: Gates
) -> None:
    del gates
    with Terminal(command("ask", "What is a fold?"), env=env) as asking:
        asking.read(lambda: _waits(asking))
        asking.send_signal(2)
        assert asking.read_to_end() == 130

    words = words_on(asking.screen)
    assert words == WORDS[: len(words)]
    assert len(words) >= 9
    turn = decoded(run("show", "--json", env=env).stdout.splitlines()[1])
    assert turn["status"] == "cancelled"
    assert gateway.stop() == 0


def test_one_message_is_equal_json_by_every_road_and_after_a_restart(
    gateway: Gateway, env: dict[str, str]
) -> None:
    answered = run("ask", "--engine", "replay", "--json", "hello", env=env)
    assert answered.returncode == 0
    turn: dict[str, Any] = decoded(answered.stdout)
    conversation_id, turn_id = turn["conversation_id"], turn["id"]

    def roads(view: View) -> list[Any]:
        base = f"/v1/conversations/{conversation_id}"
        by_rest = call(gateway.url, f"{base}/turns/{turn_id}?view={view}")["message"]
        by_list = call(gateway.url, f"{base}/messages?view={view}")["items"][1]
        return [by_rest, by_list, *_streamed(gateway.url, conversation_id, turn_id, view)]

    owner = roads("owner")
    public = roads("public")
    shown = decoded(run("show", "--json", env=env).stdout.splitlines()[1])

    assert all(message == turn["message"] for message in [*owner, shown])
    assert all(message == public[0] for message in public)
    gateway.kill()
    gateway.restart()
    assert roads("owner") == owner
    assert roads("public") == public


def _streamed(url: str, conversation_id: str, turn_id: str, view: View) -> list[Any]:
    """Return the message as the fold of all events, and as the snapshot has it."""
    with Client(url) as client:
        *_, (folded, _event) = client.events(conversation_id, view=view, until_idle=True)
        for state, _event in client.events(
            conversation_id,
            view=view,
            after="now",
            until_idle=True,
        ):
            return [folded.find_message(turn_id), state.find_message(turn_id)]
    raise AssertionError("there is a snapshot")


def test_two_gateways_never_own_one_store(gateway: Gateway, env: dict[str, str]) -> None:
    second = run("serve", "--port", "0", env=env)

    assert second.returncode == 1
    assert b"[store_locked]" in second.stderr
    assert str(gateway.process.pid).encode() in second.stderr
    assert gateway.url.encode() in second.stderr, "it says where to go"


def test_a_submit_repeated_after_a_restart_is_the_same_turn(gateway: Gateway) -> None:
    made = call(gateway.url, "/v1/conversations", method="POST", body={})
    path = f"/v1/conversations/{made['id']}/turns"
    body = {"content": "hello", "engine": "replay", "options": {"speed": 0}}
    headers = {"idempotency-key": "key_1"}
    first = call(gateway.url, path, method="POST", body=body, headers=headers)
    gateway.kill()
    gateway.restart()

    again = call(gateway.url, path, method="POST", body=body, headers=headers)

    assert again["id"] == first["id"]
    assert len(call(gateway.url, f"/v1/conversations/{made['id']}/messages")["items"]) == 2


def test_the_demo_shows_what_it_promises(tmp_path: Path) -> None:
    shown = run("demo", "--speed", "0", "--plain", env=environment(tmp_path))

    text = shown.stdout.decode()
    assert shown.returncode == 0, text + shown.stderr.decode()
    assert "Every answer equals what the store has, to the last character." in text
    assert "connections cut: 1" in text
    assert "SIGKILL after" in text
    assert text.count("turn_interrupted") == 1
    assert "FAILED" not in text
