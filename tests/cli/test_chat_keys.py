"""The keys of the chat, set in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from blockwire.cli.keysettings import chat_bindings_of, keymap_of
from blockwire.cli.settings import load_config
from blockwire.jsontext import decode_json
from blockwire.tui.chat import Chat
from blockwire.tui.intents import Submit
from tests.cli.conftest import Run
from tests.support.programs import at_once
from tests.tui.core.typists import keys

MINE = """
[keys]
"live.prefix" = "ctrl-a"
"chat.submit" = "ctrl-s"
[keys.chat]
newline = ["enter", "ctrl-j"]
undo = []
"""


@pytest.mark.requirement("chat:input:bound")
def test_keys_of_the_file_are_what_the_chat_goes_by_and_helps_with(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE, encoding="utf-8")
    config = load_config({}, path=str(tmp_path / "mine.toml"), env={})
    chat = Chat(new_key=lambda: "key", bindings=chat_bindings_of(config))

    pressed = [chat.press(one, now_s=1.0) for one in keys("'a'", "enter", "'b'", "ctrl-s")]
    [submit] = [it for intents in pressed for it in intents if isinstance(it, Submit)]
    assert submit.content == "a\nb"

    for one in keys("'/help'", "ctrl-s"):
        chat.press(one, now_s=1.0)
    lines = [line.split() for line in chat.take_notices()[-1].text.split("\n")]
    assert ["Ctrl-S", "send"] in lines
    assert "undo" not in [line[-1] for line in lines]
    # The host does not know these, and does not mind.
    assert keymap_of(config) is not None


@pytest.mark.requirement("chat:input:bound")
def test_config_shows_the_keys_of_the_chat(home: Path, blockwire: Run) -> None:
    (home / "mine.toml").write_text(MINE, encoding="utf-8")

    shown = blockwire("config", "--config", "mine.toml").out
    document = decode_json(blockwire("config", "--config", "mine.toml", "--json").out.encode())

    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if "." in line}
    assert rows["keys.chat.submit"] == ["ctrl-s", "mine.toml"]
    assert rows["keys.chat.undo"] == ["-", "mine.toml"]
    assert rows["keys.chat.cancel"] == ["escape", "default"]
    assert isinstance(document, dict)
    assert isinstance(document["keys"], dict)
    assert document["keys"]["chat.help"] == {"value": ["f1"], "origin": "default", "detail": ""}


@pytest.mark.requirement("chat:input:bound")
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('"chat.sbmit" = "f5"', "the nearest is submit"),
        ('"chat.submit" = "f55"', "[keys] chat.submit"),
        ('"chat.submit" = "escape"', "Escape would do both"),
    ],
)
def test_a_wrong_key_is_an_error(home: Path, blockwire: Run, line: str, sentence: str) -> None:
    (home / "wrong.toml").write_text(f"[keys]\n{line}\n", encoding="utf-8")

    ended = blockwire("config", "check", "wrong.toml")

    assert (ended.status, sentence in ended.err) == (1, True), ended.err


def test_the_width_of_the_file_counts_where_answers_are_printed(home: Path, blockwire: Run) -> None:
    (home / "wide.toml").write_text("ambiguous_width = 2\n", encoding="utf-8")
    blockwire("ask", "--config", at_once(home), "\u2460" * 30)

    shown = [
        blockwire("show", *options, "--color", "always", "--width", "40").out.count("\n")
        for options in ((), ("--config", "wide.toml"))
    ]
    assert shown[0] < shown[1]
