"""Progress: on a terminal alone, seldom, and gone at the end."""

import sys
import threading
from pathlib import Path

import pytest

from blockwire.cli import output, progress
from blockwire.cli.progress import Progress, report_progress
from tests.support.programs import Terminal, environment

ROWS = [
    # done, total,  unit,    noun,            row
    (0, None, "items", "", "checking: 0"),
    (1_234, None, "items", "conversations", "checking: 1,234 conversations"),
    (1, 4, "items", "turns", "checking:  25 %  1 of 4 turns"),
    (9, 4, "items", "", "checking: 100 %  9 of 4"),
    (999, None, "bytes", "ignored", "checking: 999 B"),
    (1_000, 2_500_000, "bytes", "", "checking:   0 %  1.0 kB of 2.5 MB"),
    (10**20, None, "bytes", "", "checking: 100000000.0 TB"),
    (1, 0, "items", "", "checking: 1"),
]  # fmt: skip


@pytest.mark.parametrize(("done", "total", "unit", "noun", "row"), ROWS)
def test_a_row_says_how_far_it_is(
    done: int, total: int | None, unit: progress.Unit, noun: str, row: str
) -> None:
    work = Progress("checking", total=total, unit=unit, noun=noun, is_shown=False)

    work.set(done)

    assert work.row() == row


def test_a_name_from_outside_cannot_act_on_the_terminal() -> None:
    assert "\x1b" not in Progress("reading \x1b[2J", noun="\x1b]0;x\x07", is_shown=False).row()


def test_nothing_is_written_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with report_progress("checking", total=2) as work:
        work.advance()
        work.set(2)

    assert work.done == 2
    assert capsys.readouterr() == ("", "")


def test_it_is_redrawn_at_most_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(progress, "draw_transient", drawn.append)
    now_s = 0.0
    work = Progress("checking", now_s=lambda: now_s)

    for step in range(10_000):  # ten seconds
        now_s = step / 1000
        work.advance()

    assert 80 <= len(drawn) <= 100
    assert all(row.startswith("checking: ") for row in drawn)


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(progress, "draw_transient", drawn.append)
    work = Progress("checking", now_s=lambda: 0.0)

    for _ in range(1_000):
        work.advance()

    assert drawn == []


def test_threads_lose_no_count() -> None:
    work = Progress("checking", is_shown=False)

    def advance() -> None:
        for _ in range(2_000):
            work.advance()

    threads = [threading.Thread(target=advance) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert work.done == 8_000


PROGRAM = """
import sys
from blockwire.cli import progress
from blockwire.cli.output import note, write
progress.QUIET_S = -1.0
with progress.report_progress("copying", total=4, noun="pages") as work:
    for _ in range(3):
        work._next_s = 0.0
        work.advance()
    note("a sentence in between")
    work._next_s = 0.0
    work.advance()
    write("a result in between\\n")
write("done\\n")
"""


@pytest.mark.requirement("gateway:operations:progress")
def test_on_a_terminal_it_leaves_the_result_alone_behind(tmp_path: Path) -> None:
    program = "import os; os.dup2(1, 2)\n" + PROGRAM
    with Terminal([sys.executable, "-c", program], env=environment(tmp_path)) as terminal:
        status = terminal.read_to_end()

        assert status == 0
        assert b"copying:  25 %  1 of 4 pages" in terminal.output
        assert terminal.screen.lines() == ["a sentence in between", "a result in between", "done"]


def test_a_narrow_terminal_gets_a_row_of_its_own_width(tmp_path: Path) -> None:
    program = "import os; os.dup2(1, 2)\n" + PROGRAM.replace('"copying"', '"copying " + "x" * 200')
    with Terminal(
        [sys.executable, "-c", program], env=environment(tmp_path), columns=40
    ) as terminal:
        assert terminal.read_to_end() == 0

        assert terminal.screen.lines() == ["a sentence in between", "a result in between", "done"]


def test_a_closed_standard_error_ends_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def isatty(self) -> bool:
            raise ValueError("closed")

        def write(self, _text: str) -> int:
            raise ValueError("closed")

    monkeypatch.setattr(sys, "stderr", Closed())

    with report_progress("checking") as work:
        work.advance()
    output.draw_transient("x")
    output.erase_transient()

    assert work.done == 1
