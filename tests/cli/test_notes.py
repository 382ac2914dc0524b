"""Notes on a terminal that also shows an answer."""

import io
import sys

import pytest

from blockwire.cli.output import note, write, write_json


class _Shared(io.TextIOWrapper):
    """What both streams of a program may write to."""

    def __init__(self, *, is_tty: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n")
        self._is_tty = is_tty

    def isatty(self) -> bool:
        return self._is_tty

    def text(self) -> str:
        self.flush()
        self.seek(0)
        return self.read()


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("half a row", "half a row\nlost\nback\n and more\n"),
        ("\x1b[1mhalf a row\x1b[0m", "\x1b[1mhalf a row\x1b[0m\nlost\nback\n and more\n"),
        ("a row\n", "a row\nlost\nback\n and more\n"),
        ("a row\n\x1b[0m", "a row\n\x1b[0mlost\nback\n and more\n"),
    ],
)
def test_a_note_in_the_middle_of_a_row_gets_a_row_of_its_own(
    monkeypatch: pytest.MonkeyPatch, printed: str, shown: str
) -> None:
    terminal = _Shared(is_tty=True)
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)

    write(printed)
    note("lost")
    note("back")
    write(" and more\n")

    assert terminal.text() == shown


def test_a_note_behind_json_needs_no_other_row(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Shared(is_tty=True)
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)

    write_json({"a": 1})
    note("lost")

    assert terminal.text() == '{"a":1}\nlost\n'


def test_a_pipe_gets_no_row_for_what_the_terminal_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe, terminal = _Shared(is_tty=False), _Shared(is_tty=True)
    monkeypatch.setattr(sys, "stdout", pipe)
    monkeypatch.setattr(sys, "stderr", terminal)

    write("half a row")
    note("lost")
    write("\n")

    assert (pipe.text(), terminal.text()) == ("half a row\n", "lost\n")
