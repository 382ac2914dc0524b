"""What the outer terminal says of itself, and what copied text becomes."""

from __future__ import annotations

import os
import pty
import termios
from pathlib import Path

import pytest

from blockwire.host.leaving import LEAVE, enter_sequence
from blockwire.host.outer import (
    OuterColours,
    Questions,
    colour_depth,
    is_remote,
    window_size,
)

DEPTHS: list[tuple[str, str, bool, str]] = [
    # COLORTERM,  TERM,            wanted, depth
    ("truecolor", "xterm",          True,  "truecolor"),
    ("24bit",     "screen",         True,  "truecolor"),
    ("TRUECOLOR", "xterm",          True,  "truecolor"),
    ("",          "xterm-direct",   True,  "truecolor"),
    ("",          "xterm-256color", True,  "256"),
    ("yes",       "tmux-256color",  True,  "256"),
    ("",          "xterm",          True,  "16"),
    ("",          "linux",          True,  "16"),
    ("truecolor", "xterm-256color", False, "none"),
]  # fmt: skip


@pytest.mark.parametrize(("colorterm", "term", "wanted", "depth"), DEPTHS)
@pytest.mark.requirement("host:process:colour-depth")
def test_the_environment_says_how_many_colours_there_are(
    colorterm: str, term: str, wanted: bool, depth: str
) -> None:
    env = {"COLORTERM": colorterm, "TERM": term}

    assert colour_depth(env, wants_colour=wanted) == depth


SIZES: list[tuple[tuple[int, int], dict[str, str], tuple[int, int]]] = [
    # of the device, environment,                        columns and rows
    ((30, 100), {"COLUMNS": "9", "LINES": "7"},          (100, 30)),
    ((0, 0),    {"COLUMNS": "90", "LINES": "17"},        (90, 17)),
    ((0, 0),    {"COLUMNS": "x", "LINES": "0"},          (80, 24)),
    ((0, 0),    {"COLUMNS": "9999999", "LINES": "-3"},   (80, 24)),
    ((0, 0),    {},                                      (80, 24)),
    ((1, 1),    {},                                      (1, 1)),
    ((60_000, 60_000), {},                               (10_000, 10_000)),
]  # fmt: skip


@pytest.mark.parametrize(("device", "env", "size"), SIZES)
def test_the_size_is_that_of_the_device_and_else_of_the_environment(
    device: tuple[int, int], env: dict[str, str], size: tuple[int, int]
) -> None:
    near, far = pty.openpty()
    try:
        termios.tcsetwinsize(far, device)
        assert window_size(far, env) == size
    finally:
        os.close(near)
        os.close(far)


def test_what_is_no_terminal_has_the_size_of_the_environment(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        assert window_size(file.fileno(), {"COLUMNS": "7"}) == (7, 24)


ANSWERS: list[tuple[bytes, OuterColours, bool]] = [
    (b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\\x1b]11;rgb:0000/1010/2020\x1b\\\x1b[?62;22c",
     OuterColours("#ffffff", "#001020"), True),
    (b"\x1b]11;rgb:12/34/56\x07\x1b[?6c", OuterColours(None, "#123456"), True),
    (b"\x1b]11;rgb:f/0/8\x07", OuterColours(None, "#ff0088"), False),
    (b"ls\n\x1b]10;rgb:ff/ff/ff\x07more\x1b[?1;2c", OuterColours("#ffffff"), True),
    (b"\x1b[?1;2c\x1b]10;rgb:ff/ff/ff\x07", OuterColours("#ffffff"), True),
    (b"\x1b]10;red\x07\x1b[?1;2c", OuterColours(), True),
    (b"\x1b]12;rgb:ff/ff/ff\x07", OuterColours(), False),
    (b"\x1b[c", OuterColours(), False),
]  # fmt: skip


@pytest.mark.parametrize(("data", "colours", "answered"), ANSWERS)
def test_answers_are_seen_whole_and_in_pieces(
    data: bytes, colours: OuterColours, answered: bool
) -> None:
    whole = Questions()
    whole.look(data)
    assert (whole.colours, whole.is_answered) == (colours, answered)

    pieces = Questions()
    for at in range(len(data)):
        pieces.look(data[at : at + 1])
    # Byte by byte, what comes behind the last answer is not looked at any more.
    if data.endswith(b"c") or not answered:
        assert (pieces.colours, pieces.is_answered) == (colours, answered)


def test_a_terminal_at_the_end_of_ssh_is_remote() -> None:
    assert is_remote({"SSH_TTY": "/dev/pts/1"})
    assert is_remote({"SSH_CONNECTION": "a b"})
    assert not is_remote({"SSH_TTY": ""})


def test_what_is_switched_on_is_switched_off() -> None:
    for has_mouse in (True, False):
        entered = enter_sequence(has_mouse=has_mouse)
        assert (b"1002h" in entered) == has_mouse
        for part in entered.split(b"\x1b[?")[1:]:
            assert b"\x1b[?" + part[:-1] + b"l" in LEAVE
