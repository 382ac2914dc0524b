"""Questions in line and questions of the answerer, at the command line."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blockwire.cli.commands.ask import _ordinal
from blockwire.cli.commands.show import _totals
from blockwire.jsontext import decode_json
from tests.cli.conftest import Run
from tests.suites import PROJECT
from tests.support.agents import SLOW, let_go
from tests.support.programs import WAIT_S, Gateway, Terminal, at_once, command, environment, run

pytestmark = pytest.mark.timeout(120)

EXAMPLES = PROJECT / "docs" / "examples"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    agent = EXAMPLES / "_asking_agent.py"
    (tmp_path / "c.toml").write_text(
        f'[engines.careful]\nkind = "command"\ncommand = ["python3", "{agent}"]\nanswers = true\n'
        '[engines.slow]\nkind = "command"\ncommand = ["python3", "slow.py"]\n',
        encoding="utf-8",
    )
    return tmp_path


@pytest.fixture
def env(place: Path) -> dict[str, str]:
    return environment(place)


@pytest.fixture
def gateway(place: Path, env: dict[str, str]) -> Iterator[Gateway]:
    with Gateway(env, "--config", "c.toml", cwd=place) as running:
        yield running


def listed(env: dict[str, str]) -> dict[str, Any]:
    """Return the newest conversation."""
    shown = run("list", "--json", "--limit", "1", env=env).stdout
    value = decode_json(shown)
    assert isinstance(value, dict)
    return value


@pytest.mark.usefixtures("gateway")
def test_a_person_at_a_terminal_answers_what_the_answerer_asks(env: dict[str, str]) -> None:
    asking = command("ask", "--engine", "careful", "Clean up")
    with Terminal(asking, env=env) as terminal:
        terminal.read(lambda: b"What is the file called?" in terminal.output)
        terminal.type("a.txt\n")
        terminal.read(lambda: b"Delete a.txt?" in terminal.output)
        terminal.type("maybe\nyes\n")
        status = terminal.read_to_end()
        told = terminal.errors()

    assert status == 0
    assert "Deleted a.txt, or so I say." in "\n".join(terminal.screen.lines())
    assert "answer yes or no" in told


@pytest.mark.usefixtures("gateway")
def test_without_a_terminal_the_question_is_printed_and_answered_by_a_command(
    env: dict[str, str],
) -> None:
    asked = run("ask", "--engine", "careful", "Clean up", env=env)
    conversation_id = str(listed(env)["id"])
    bad = run("answer", conversation_id, "--json", "{", env=env)
    first = run("answer", conversation_id, "a.txt", env=env)
    while b"Delete" not in (shown := run("answer", conversation_id, env=env)).stderr:
        assert shown.returncode in {0, 1}
    unclear = run("answer", conversation_id, "perhaps", env=env)
    second = run("answer", conversation_id, "--json", "false", env=env)
    watched = run("watch", "--until-idle", conversation_id, env=env)
    late = run("answer", conversation_id, "yes", env=env)

    assert asked.returncode == 3
    assert b"What is the file called?" in asked.stderr
    assert f"blockwire answer {conversation_id} ANSWER".encode() in asked.stderr
    assert (bad.returncode, first.returncode, second.returncode) == (1, 0, 0)
    assert (unclear.returncode, b"answer yes or no" in unclear.stderr) == (2, True)
    assert b"Then I leave it alone." in watched.stdout
    assert (late.returncode, b"turn_not_suspended" in late.stderr) == (1, True)


@pytest.mark.usefixtures("gateway")
def test_a_prompt_says_that_somebody_else_has_answered(env: dict[str, str]) -> None:
    run("ask", "--engine", "careful", "Clean up", env=env)
    conversation_id = str(listed(env)["id"])
    with Terminal(command("watch", "--until-idle", conversation_id), env=env) as terminal:
        terminal.read(lambda: b"What is the file called?" in terminal.output)
        run("answer", conversation_id, "a.txt", env=env)
        terminal.read(lambda: b"Delete a.txt?" in terminal.output)
        run("answer", conversation_id, "yes", env=env)
        assert terminal.read_to_end() == 0
        told = terminal.errors()

    assert "it waits no more: somebody else answered" in told


@pytest.mark.usefixtures("gateway")
def test_a_watcher_at_a_terminal_may_answer_too(env: dict[str, str]) -> None:
    run("ask", "--engine", "careful", "Clean up", env=env)
    watching = command("watch", "--until-idle", str(listed(env)["id"]))
    with Terminal(watching, env=env) as terminal:
        terminal.read(lambda: b"What is the file called?" in terminal.output)
        terminal.type("b.txt\n")
        terminal.read(lambda: b"Delete b.txt?" in terminal.output)
        terminal.type("n\n")
        status = terminal.read_to_end()

    assert status == 0
    assert "Then I leave it alone." in "\n".join(terminal.screen.lines())


def _asks(env: dict[str, str], *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command("ask", "--engine", "slow", *arguments),
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.usefixtures("gateway")
def test_a_second_question_says_that_it_waits_and_ctrl_c_takes_it_back(
    place: Path, env: dict[str, str]
) -> None:
    with _asks(env, "first") as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"begun\n"
        conversation_id = str(listed(env)["id"])
        with (
            _asks(env, "-c", conversation_id, "second") as second,
            _asks(env, "-c", conversation_id, "third") as third,
        ):
            assert second.stderr is not None
            assert third.stderr is not None
            lines = {second.stderr.readline(), third.stderr.readline()}
            assert lines == {b"waiting (next in line)\n", b"waiting (2nd in line)\n"}
            assert len(listed(env)["queued_turn_ids"]) == 2
            second.send_signal(signal.SIGINT)
            _out, told = second.communicate(timeout=WAIT_S)
            assert second.returncode == 130
            assert b"taken out of the line; nothing was asked" in told
            let_go(place)
            out, _err = third.communicate(timeout=WAIT_S)
            assert (third.returncode, out) == (0, b"begun\n\nand done\n")
        first.communicate(timeout=WAIT_S)
    assert first.returncode == 0


@pytest.mark.slow
@pytest.mark.requirement("gateway:queue:restart")
def test_a_question_in_line_outlives_a_killed_gateway_by_being_asked_again_once(
    place: Path, env: dict[str, str], gateway: Gateway
) -> None:
    with _asks(env, "first") as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"begun\n"
        conversation_id = str(listed(env)["id"])
        with _asks(env, "-c", conversation_id, "second") as second:
            assert second.stderr is not None
            assert second.stderr.readline() == b"waiting (next in line)\n"
            gateway.kill()
            gateway.restart()
            let_go(place)
            out, told = second.communicate(timeout=WAIT_S)
        first.communicate(timeout=WAIT_S)

    shown = run("show", "--json", conversation_id, env=env).stdout
    assert (second.returncode, out) == (0, b"begun\n\nand done\n"), told
    assert b"it is asked again" in told
    assert first.returncode == 1
    assert shown.count(b'"second"') == 1


def test_totals_are_told_in_one_line() -> None:
    usage = {"turns": 1, "input_tokens": 1_804, "output_tokens": 517, "cost": {"usd": 0.0074}}

    assert _totals(usage) == "1 turn, 1,804 tokens in, 517 tokens out, 0.0074 usd"
    assert _totals({"turns": 2}) == "2 turns"


def test_places_in_line_are_spelled_as_people_do() -> None:
    numbers = (2, 3, 4, 11, 12, 13, 21, 102, 111)

    assert [_ordinal(number) for number in numbers] == [
        "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th",
    ]  # fmt: skip


def test_there_is_nothing_to_answer_in_an_idle_conversation(home: Path, blockwire: Run) -> None:
    blockwire("ask", "hello", "--config", at_once(home))
    value = decode_json(blockwire("list", "--json").out.encode())
    assert isinstance(value, dict)
    conversation_id = str(value["id"])

    ended = blockwire("answer", conversation_id, "yes")

    assert ended.status == 1
    assert "turn_not_suspended" in ended.err
