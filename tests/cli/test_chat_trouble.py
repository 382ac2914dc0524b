"""``blockwire chat`` when something goes wrong: on a pty, judged by a terminal of somebody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from blockwire.jsontext import decode_json
from tests.support.agents import SLOW
from tests.support.programs import Gateway, environment, run
from tests.tui.drawing.terminals import ChatTerminal

pytestmark = pytest.mark.timeout(120)

SAYING = """
import json, sys
asked = json.load(sys.stdin)["messages"][-1]["content"][-1]["markdown"]
print("said:", asked, flush=True)
"""
WORDY = (
    SAYING
    + """
print()
for number in range(4_000):
    print(f"- item {number}")
"""
)
CONFIG = """
[engines.saying]
kind = "command"
command = ["python3", "saying.py"]
[engines.wordy]
kind = "command"
command = ["python3", "wordy.py"]
[engines.slow]
kind = "command"
command = ["python3", "slow.py"]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    (tmp_path / "wordy.py").write_text(WORDY, encoding="utf-8")
    (tmp_path / "saying.py").write_text(SAYING, encoding="utf-8")
    (tmp_path / "c.toml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def conversations(place: Path) -> list[str]:
    """Return the ids of all conversations."""
    told = run("list", "--json", env=environment(place), cwd=place)
    ids = []
    for line in told.stdout.splitlines():
        row = decode_json(line)
        assert isinstance(row, dict)
        ids.append(str(row["id"]))
    return ids


@pytest.mark.requirement("chat:leaving:go-on")
def test_who_leaves_is_told_how_to_go_on(place: Path) -> None:
    with ChatTerminal("--config", "c.toml", "--engine", "saying", place=place) as terminal:
        terminal.press("one\r")
        terminal.until_shown("said: one")
        assert terminal.leave() == 0
        [conversation_id] = conversations(place)
        assert terminal.errors() == f"to go on: blockwire chat -c {conversation_id}\n"


def test_nobody_is_told_to_go_on_in_what_is_kept_nowhere(place: Path) -> None:
    options = ("--config", "c.toml", "--engine", "saying", "--store", "memory:")
    with ChatTerminal(*options, place=place) as terminal:
        terminal.press("one\r")
        terminal.until_shown("said: one")
        assert terminal.leave() == 0
        assert terminal.errors() == ""


@pytest.mark.requirement("chat:leaving:turns")
def test_a_question_on_its_way_does_not_keep_the_chat_from_ending(place: Path) -> None:
    with ChatTerminal("--config", "c.toml", "--engine", "slow", place=place) as terminal:
        terminal.until_shown("Ask something")
        # In one read: it leaves before the question is answered for.
        terminal.press("one\r\x04")
        assert terminal.read_to_end() == 0
        assert terminal.is_restored


@pytest.mark.requirement("chat:leaving:go-on")
def test_a_terminal_that_drops_the_chat_ends_it_and_loses_nothing(place: Path) -> None:
    with ChatTerminal(
        "--config", "c.toml", "--engine", "saying", place=place, answers="all"
    ) as terminal:
        terminal.press("one\r")
        terminal.read(lambda: any("said: one" in text for text in terminal.brain.texts()))
        terminal.brain.endpoint.invalidate("c1")
        terminal.press("two\r")
        terminal.read(lambda: terminal.process.poll() is not None)
        errors = terminal.errors()
        assert terminal.process.returncode == 1
        assert terminal.is_restored
        [conversation_id] = conversations(place)
    assert "the conversation is kept" in errors
    assert f"to go on: blockwire chat -c {conversation_id}\n" in errors
    # Nothing was printed in another way.
    assert "said: one" not in "\n".join(terminal.judge.text())


@pytest.mark.requirement("chat:questions:no-empty")
def test_a_first_question_that_is_refused_leaves_no_conversation(place: Path) -> None:
    env = environment(place)
    with Gateway(env, "--config", "c.toml", cwd=place):
        with ChatTerminal("--engine", "nobody", place=place) as terminal:
            terminal.press("one\r")
            terminal.until_shown("the question was not taken", "> one")
            terminal.press("\x03\x04")
            assert terminal.read_to_end() == 0
            assert terminal.errors() == ""
        assert conversations(place) == []


@pytest.mark.requirement("chat:conversations:asked-meanwhile")
def test_what_was_typed_ahead_goes_to_the_conversation_that_is_opened(place: Path) -> None:
    env = environment(place)
    run("ask", "--config", "c.toml", "--engine", "saying", "before", env=env, cwd=place)
    with ChatTerminal("--config", "c.toml", "--engine", "saying", "--last", place=place) as chat:
        chat.press("typed ahead\r")
        chat.until_shown("said: before", "said: typed ahead")
        assert chat.leave() == 0
    assert len(conversations(place)) == 1


@pytest.mark.requirement("chat:conversations:older")
def test_a_long_conversation_shows_its_end_and_says_where_the_rest_is(place: Path) -> None:
    env = environment(place)
    with Gateway(env, "--config", "c.toml", cwd=place):
        run("ask", "--engine", "wordy", "question 0", env=env, cwd=place)
        [conversation_id] = conversations(place)
        run("ask", "--last", "--engine", "wordy", "question 1", env=env, cwd=place)
        run("ask", "--last", "--engine", "saying", "question 2", env=env, cwd=place)
        with ChatTerminal("--last", place=place) as terminal:
            terminal.until_shown("said: question 2")
            assert terminal.leave() == 0
            rows = [row for row in terminal.judge.text() if row]
    told = f"older messages are not shown; blockwire show {conversation_id} prints them"
    assert " ".join(rows[0].split() + rows[1].split()).startswith(f"\u2013 {told}")
    assert [row for row in rows if row.startswith("said:")] == [
        "said: question 1",
        "said: question 2",
    ]


@pytest.mark.requirement("chat:start:refused")
@pytest.mark.parametrize(
    ("arguments", "token", "words"),
    [
        (("--url", "http://127.0.0.1:1"), "", "127.0.0.1:1"),
        (("--url", "nonsense"), "", "invalid_url"),
        ((), "wrong", "unauthorized"),
    ],
)
def test_a_gateway_that_cannot_be_used_is_an_error_before_the_terminal_is_taken(
    place: Path, arguments: tuple[str, ...], token: str, words: str
) -> None:
    env = environment(place)
    (place / "tokens.toml").write_text(
        '[[tokens]]\nname = "me"\nsha256 = "' + "0" * 64 + '"\nscopes = ["read"]\n',
        encoding="utf-8",
    )
    options = ("--config", "c.toml", "--token-file", "tokens.toml")
    with (
        Gateway(env, *options, cwd=place) as gateway,
        ChatTerminal(
            *(arguments or ("--url", gateway.url)), place=place, BLOCKWIRE_TOKEN=token
        ) as terminal,
    ):
        assert terminal.read_to_end() == 1
        assert terminal.brain.output == b""
        assert words in terminal.errors()
        assert terminal.is_restored


def test_inputs_that_cannot_be_kept_are_no_reason_to_stop(place: Path) -> None:
    (place / "data" / "blockwire").mkdir(parents=True)
    (place / "data" / "blockwire" / "chat-inputs.jsonl").symlink_to("/dev/full")
    with ChatTerminal("--config", "c.toml", "--engine", "saying", place=place) as terminal:
        terminal.press("one\r")
        terminal.until_shown("said: one")
        assert terminal.leave() == 0
