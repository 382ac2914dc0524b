"""Record ``blockwire term`` and ``blockwire chat``, and take a picture of each.

    python docs/pictures/record.py [--into FOLDER] [chat] [term]

What is recorded is real: the programs run on a pty under a small shell, keys come from the scripts
below, and answers from the engine ``replay``, so no other service is asked. For each program there is
``NAME.cast`` (asciicast v2: ``asciinema play NAME.cast``) and ``NAME.svg``. Two runs give the same
pictures; recordings differ in their times, and in where output is cut.

Needs what ``pip install 'blockwire[term]'`` installs, on Linux or macOS.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from painting import BACKGROUND, FOREGROUND, picture
from window import Window

COLUMNS: Final = 88
ROWS: Final = 32

# As the recordings of the demo were made, and so much faster.
SETTINGS: Final = '[engines.replay]\nkind = "replay"\nspeed = 4\n'

ENTER: Final = "\r"
TAB: Final = "\t"
ESCAPE: Final = "\x1b"
CTRL_C: Final = "\x03"
CTRL_D: Final = "\x04"
PREFIX: Final = "\x1d"  # Ctrl-]
SHIFT_HOME: Final = "\x1b[1;2H"
SHIFT_END: Final = "\x1b[1;2F"
ALT_ENTER: Final = "\x1b\r"

ESCAPE_S: Final = 0.1
"""An Escape key is one only if nothing follows it for a moment."""


class Scene(NamedTuple):
    """What is recorded.

    Attributes:
        title: Of the window.
        description: What the picture shows, for whoever cannot see it.
        play: Presses the keys, and calls its second argument when the picture is to be taken.
    """

    title: str
    description: str
    play: Callable[[Window, Callable[[], None]], None]


def play_chat(window: Window, take_picture: Callable[[], None]) -> None:
    """Ask; ask again, over two lines; put a third question into the line, and take it back; copy."""
    window.type("blockwire chat" + ENTER)
    window.until_shown("replay")
    window.rest(0.5)
    window.type("What is a Bloom filter?" + ENTER)
    window.until_shown("opened. ✅")
    window.until_gone("answering")
    window.rest(0.8)
    window.type("Twelve coins, one is false.")
    window.press(ALT_ENTER)
    window.type("Are three weighings enough?")
    window.until_still()
    take_picture()
    window.press(ENTER)
    window.until_shown("answering")
    window.type("And for thirteen?" + ENTER)
    window.until_shown("next: And for thirteen?")
    window.rest(0.7)
    window.press(ESCAPE)
    window.rest(ESCAPE_S)
    window.until_shown("> And for thirteen?")
    window.rest(0.8)
    window.press(CTRL_C)
    window.until_shown("Ctrl-C again leaves")
    window.type("/co")
    window.press(TAB)
    window.type("code" + ENTER)
    window.until_shown("copied the last code")
    window.rest(0.8)
    window.press(CTRL_D)
    window.until(lambda seen: seen.rstrip().endswith("\n$"), "the shell")


def play_term(window: Window, take_picture: Callable[[], None]) -> None:
    """Read, search, select and copy further up while an answer is being written, in two widths."""
    window.type("blockwire term -- blockwire chat" + ENTER)
    window.until_shown("replay", "Ctrl-]")
    window.rest(0.5)
    window.type("What is a Bloom filter?" + ENTER)
    window.until_shown("opened. ✅")
    window.until_gone("answering")
    window.type("Twelve coins, one is false. Are three weighings enough?" + ENTER)
    window.until_shown("answering")
    window.rest(0.8)
    window.press(SHIFT_HOME)
    window.until_shown("reading:", "▼ new output below")
    window.rest(0.8)
    window.press(PREFIX)
    window.until_shown("which key?")
    window.rest(0.5)
    window.type("/item")
    window.until_shown("search, ")
    window.rest(0.8)
    window.press(ENTER)
    window.until_shown("copy mode")
    window.rest(0.6)
    for _match in range(3):
        window.type("n", pause_s=0.3)
    window.type("V")
    window.until_shown("selecting")
    for _row in range(3):
        window.type("j", pause_s=0.12)
    window.until_still()
    take_picture()
    window.press("y")
    window.until_shown("copied")
    window.rest(0.8)
    window.resize(60, ROWS)
    window.rest(1.2)
    window.resize(COLUMNS, ROWS)
    window.rest(0.8)
    window.press(SHIFT_END)
    window.until_gone("reading:")
    window.until_shown("An old puzzle")
    window.until_gone("answering")
    window.rest(0.8)
    window.press(CTRL_D)
    window.until(lambda seen: seen.rstrip().endswith("\n$"), "the shell")


SCENES: Final[Mapping[str, Scene]] = {
    "chat": Scene(
        "blockwire chat",
        "blockwire chat: an answer with code, a table and a list, and below it a question of two"
        " lines that is being typed.",
        play_chat,
    ),
    "term": Scene(
        "blockwire term -- blockwire chat",
        "blockwire term: somebody has scrolled up in a conversation, searched for a word and"
        " selected four lines of code, while a new answer is being written below.",
        play_term,
    ),
}


def record(name: str, into: Path) -> None:
    """Play one scene, and write ``NAME.cast`` and ``NAME.svg`` into a folder."""
    scene = SCENES[name]
    pictures: list[str] = []
    with tempfile.TemporaryDirectory() as home:
        settings = Path(home, "config.toml")
        settings.write_text(SETTINGS, encoding="utf-8")
        window = Window(
            ["sh"], environment(home, settings), folder=home, columns=COLUMNS, rows=ROWS
        )
        try:
            window.until_shown("$")
            scene.play(
                window,
                lambda: pictures.append(picture(window.screen, scene.title, scene.description)),
            )
        finally:
            window.close()
    header = {
        "version": 2,
        "width": COLUMNS,
        "height": ROWS,
        "title": scene.title,
        "env": {"TERM": "xterm-256color", "SHELL": "/bin/sh"},
        "theme": {"fg": FOREGROUND, "bg": BACKGROUND},
    }
    lines = [json.dumps(line, ensure_ascii=False) for line in (header, *window.events)]
    (into / f"{name}.cast").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (into / f"{name}.svg").write_text(pictures[-1], encoding="utf-8")


def environment(home: str, settings: Path) -> dict[str, str]:
    """Return all that the programs find: a folder of their own, and this installation."""
    return {
        "HOME": home,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "SHELL": "/bin/sh",
        "PS1": "$ ",
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "BLOCKWIRE_CONFIG": str(settings),
    }


def main() -> None:
    """Record what is named, else all."""
    parser = argparse.ArgumentParser(description="Record the terminal programs.")
    parser.add_argument("--into", type=Path, default=Path(__file__).parent, metavar="FOLDER")
    parser.add_argument("name", nargs="*", help="chat, term; else both")
    arguments = parser.parse_args()
    for name in arguments.name or SCENES:
        record(name, arguments.into)


if __name__ == "__main__":
    main()
