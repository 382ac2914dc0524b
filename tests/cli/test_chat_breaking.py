"""``blockwire chat`` under people and machines that are hard on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from blockwire.client import Client
from blockwire.jsontext import decode_json
from tests.suites import suite_path
from tests.support.agents import SLOW_ECHO, let_go
from tests.support.programs import Gateway, environment, run
from tests.tui.drawing.judges import FORBIDDEN
from tests.tui.drawing.terminals import ChatTerminal

pytestmark = pytest.mark.timeout(120)
CONFIG = """
[engines.slow]
kind = "command"
command = ["python3", "slow.py"]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW_ECHO, encoding="utf-8")
    (tmp_path / "c.toml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def newest(place: Path) -> str:
    """Return the id of the newest conversation."""
    told = run("list", "--json", "--limit", "1", env=environment(place), cwd=place)
    row = decode_json(told.stdout)
    assert isinstance(row, dict)
    return str(row["id"])


@pytest.mark.requirement("chat:queue:forgotten")
def test_a_gateway_that_is_killed_in_mid_answer_loses_no_question_in_line(place: Path) -> None:
    with (
        Gateway(environment(place), "--config", "c.toml", cwd=place) as gateway,
        ChatTerminal("--url", gateway.url, "--engine", "slow", place=place) as chat,
    ):
        chat.until_shown("Ask something")
        chat.press("one\r")
        chat.until_shown("begun one")
        chat.press("two\rthree\r")
        chat.until_shown("three")
        gateway.kill()
        gateway.restart()
        let_go(place)
        chat.until_shown("interrupted", "done two", "done three")
        assert chat.leave() == 0
        rows = chat.judge.text()
    assert [row for row in rows if row in {"one", "two", "three"}] == ["one", "two", "three"]
    assert [row for row in rows if row.startswith("done")] == ["done two", "done three"]


def test_two_chats_in_one_conversation_show_the_same(place: Path) -> None:
    env = environment(place)
    let_go(place)
    with Gateway(env, "--config", "c.toml", cwd=place):
        run("ask", "--engine", "slow", "zero", env=env, cwd=place)
        conversation_id = newest(place)
        options = ("-c", conversation_id, "--engine", "slow")
        with (
            ChatTerminal(*options, place=place) as one,
            ChatTerminal(*options, place=place) as other,
        ):
            one.until_shown("done zero")
            other.until_shown("done zero")
            one.press("from one\r")
            other.until_shown("done from one")
            other.press("from the other\r")
            one.until_shown("done from the other")
            other.until_shown("done from the other")
            assert (one.leave(), other.leave()) == (0, 0)
            shown = [[row for row in chat.judge.text() if row] for chat in (one, other)]
    assert shown[0] == shown[1]


def test_a_conversation_that_is_deleted_under_the_chat_is_told_and_the_next_one_begins(
    place: Path,
) -> None:
    env = environment(place)
    let_go(place)
    with (
        Gateway(env, "--config", "c.toml", cwd=place) as gateway,
        ChatTerminal("--engine", "slow", place=place) as chat,
    ):
        chat.press("one\r")
        chat.until_shown("done one")
        first = newest(place)
        with Client(gateway.url) as client:
            client.delete_conversation(first)
        chat.until_shown("the conversation ends here")
        chat.press("two\r")
        chat.until_shown("done two")
        assert newest(place) != first
        assert chat.leave() == 0


def pour(chat: ChatTerminal, data: bytes) -> None:
    """Paste a lot, as fast as the terminal takes it."""
    rest = data

    def poured() -> bool:
        nonlocal rest
        rest = rest[chat.press_some(rest) :]
        return not rest

    chat.read(poured)


@pytest.mark.requirement("chat:paste:megabyte")
def test_a_megabyte_is_pasted_whole_and_comes_back_if_the_gateway_takes_less(place: Path) -> None:
    let_go(place)
    line = b"0123456789abcde\n"
    with ChatTerminal("--config", "c.toml", "--engine", "slow", place=place) as chat:
        chat.until_shown("Ask something")
        pour(chat, b"\x1b[200~" + line * 65_536 + b"\x1b[201~")
        chat.until_shown("[paste #1: 65536 lines]")
        chat.press("\r")
        chat.until_shown("limit_exceeded", "[paste #2: 65536 lines]")
        chat.press("\x03\x03")
        assert chat.read_to_end() == 0
        assert chat.is_restored


def test_a_window_of_one_cell_shows_something_and_loses_nothing(place: Path) -> None:
    with ChatTerminal(
        "--config", "c.toml", "--engine", "slow", place=place, columns=1, rows=1
    ) as chat:
        chat.press("one\r")
        chat.read(lambda: "begunone" in "".join("".join(chat.judge.text()).split()))
        chat.resize(80, 24)
        let_go(place)
        chat.until_shown("done one")
        assert chat.leave() == 0


def test_nothing_that_a_model_says_acts_on_the_terminal(place: Path) -> None:
    document = decode_json(suite_path("terminal/payloads.json").read_bytes())
    assert isinstance(document, dict)
    payloads = document["cases"]
    assert isinstance(payloads, list)
    texts = [str(it["payload"]) for it in payloads if isinstance(it, dict)]
    (place / "said.txt").write_text("\n\n".join(texts), encoding="utf-8", errors="replace")
    (place / "slow.py").write_text(
        "import pathlib, sys\nsys.stdin.read()\n"
        "sys.stdout.buffer.write(pathlib.Path('said.txt').read_bytes())\nprint('\\n\\nthe end')\n",
        encoding="utf-8",
    )
    with ChatTerminal("--config", "c.toml", "--engine", "slow", place=place) as chat:
        chat.press("speak\r")
        chat.until_shown("the end")
        assert chat.leave() == 0
        assert not FORBIDDEN.search(chat.brain.output)
        assert chat.is_restored
