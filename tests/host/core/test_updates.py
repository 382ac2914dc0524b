"""Updates that a program announces (mode 2026) are seen whole."""

from __future__ import annotations

import pytest

from blockwire.host.emulator import EmulatorName, best_emulator
from blockwire.host.updating import UPDATE_S, last_update
from tests.host.core.windows import Window

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"
NAMES: tuple[EmulatorName, ...] = ("ghostty", "pyte")


@pytest.fixture(params=NAMES)
def window(request: pytest.FixtureRequest) -> Window:
    window = Window(20, 6, emulator=best_emulator(20, 6, name=request.param)).output("old")
    window.look()
    return window


@pytest.mark.requirement("host:updates:whole")
def test_half_an_update_is_not_drawn(window: Window) -> None:
    window.output(f"{BEGIN}\x1b[2J\x1b[H")
    assert window.text()[0] == "old"
    assert window.written == b""

    window.output("half").wait(0.1)
    assert window.text()[0] == "old"

    window.output(" and half", END)
    assert window.text()[0] == "half and half"
    assert window.core.wake_at_s is None


@pytest.mark.requirement("host:updates:bounded")
def test_an_update_that_does_not_end_is_drawn_when_its_time_is_over(window: Window) -> None:
    window.output(f"{BEGIN}\x1b[2J\x1b[Hhalf")
    assert window.core.wake_at_s == pytest.approx(window.now_s + UPDATE_S)

    assert window.wait(0.149).text()[0] == "old"
    assert window.wait(0.002).text()[0] == "half"

    assert window.output(", more").text()[0] == "half, more"
    assert window.core.wake_at_s is None
    window.output(END, BEGIN, "!")
    assert window.text()[0] == "half, more"


def test_more_of_an_update_does_not_make_its_time_longer(window: Window) -> None:
    for number in range(4):
        window.output(f"{BEGIN}\r{number}").wait(0.05)

    assert window.text()[0] == "3ld"


@pytest.mark.requirement("host:updates:before")
def test_an_update_that_another_one_follows_at_once_is_drawn(window: Window) -> None:
    window.output(BEGIN)

    for number in range(20):
        window.output(f"\x1b[2J\x1b[Hstate {number}{END}{BEGIN}\x1b[2J\x1b[H")
        assert window.text()[0] == f"state {number}"
        assert window.text()[0] == f"state {number}"
        window.wait(0.03)

    assert window.output("last", END).text()[0] == "last"


def test_of_many_updates_in_one_piece_one_is_drawn(window: Window) -> None:
    window.output("".join(f"{BEGIN}\r{number}{END}" for number in range(9)), BEGIN)
    assert window.text()[0] == "8ld"

    window.output("half").output(f"\r7{END}{BEGIN}\rhalf")

    assert window.text()[0] == "7half"


def test_a_new_size_shows_what_there_is(window: Window) -> None:
    window.output(f"{BEGIN}\x1b[2J\x1b[Hhalf").output(f"{END}{BEGIN} of it")

    assert window.resize(30, 6).text()[0] == "half of it"
    assert window.core.wake_at_s is None


def test_the_end_of_a_program_within_an_update_shows_what_there_is(window: Window) -> None:
    window.output(f"{BEGIN}\x1b[2J\x1b[Hhalf").core.program_ended()

    assert window.text()[0] == "half"
    assert window.transcript() == ["half"]


def test_what_the_terminal_lost_is_drawn_after_an_update(window: Window) -> None:
    window.output(BEGIN).core.repaint()
    assert window.text()[0] == "old"
    assert window.written == b""

    window.output(END)
    window.look()
    assert b"old" in window.written


@pytest.mark.parametrize(
    ("data", "begin"),
    [
        ("", None),
        (BEGIN, 0),
        (END, None),
        (f"a{BEGIN}b{END}c", 1),
        (f"{END}{BEGIN}{END}{BEGIN}", 24),
    ],
)
def test_the_last_moment_before_an_update_is_found(data: str, begin: int | None) -> None:
    assert last_update(data.encode()) == begin
