"""What a terminal can show, and how text reaches it whatever its encoding."""

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.cli import encoding
from blockwire.cli.encoding import FALLBACK, readable, repair_streams, terminal_encoding
from blockwire.cli.output import OutputClosedError, note, one_line, write, write_json
from blockwire.cli.terminals import screen_of, wants_colour
from blockwire.errors import LocalProtocolError
from blockwire.text import width
from tests.support.programs import at_once, command, environment, run

# The order is --color, NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE, the terminal.
COLOURS: list[tuple[str, dict[str, str], bool, bool]] = [
    # --color,  environment,                            tty,    colours?
    ("auto",    {},                                     True,   True),
    ("auto",    {},                                     False,  False),
    ("auto",    {"NO_COLOR": "1"},                      True,   False),
    ("auto",    {"NO_COLOR": ""},                       True,   True),
    ("auto",    {"FORCE_COLOR": "1"},                   False,  True),
    ("auto",    {"FORCE_COLOR": "0"},                   True,   False),
    ("auto",    {"CLICOLOR_FORCE": "1"},                False,  True),
    ("auto",    {"NO_COLOR": "1", "FORCE_COLOR": "1"},  True,   False),
    ("always",  {"NO_COLOR": "1"},                      False,  True),
    ("never",   {"FORCE_COLOR": "1"},                   True,   False),
    ("auto",    {"TERM": "dumb"},                       True,   False),
    ("auto",    {"TERM": ""},                           True,   False),
]  # fmt: skip


@pytest.mark.parametrize(("flag", "env", "is_tty", "expected"), COLOURS)
def test_colours_follow_the_flag_then_the_environment_then_the_terminal(
    flag: Any, env: dict[str, str], is_tty: bool, expected: bool
) -> None:
    env = {"TERM": "xterm-256color", **env}

    assert wants_colour(flag, env, is_tty=is_tty) is expected


class _Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


SCREENS: list[tuple[io.StringIO, dict[str, str], dict[str, Any], tuple[bool, bool, bool, int]]] = [
    # stream,       environment,                    options,                is_terminal, escapes, colour, columns
    (_Tty(),        {"TERM": "xterm"},              {},                     (True, True, True, 80)),
    (_Tty(),        {"TERM": "xterm", "COLUMNS": "33"}, {},                 (True, True, True, 33)),
    (_Tty(),        {"TERM": "xterm", "COLUMNS": "0"},  {},                 (True, True, True, 80)),
    (_Tty(),        {"TERM": "xterm", "COLUMNS": "x"},  {"width": 7},       (True, True, True, 7)),
    (_Tty(),        {"TERM": "xterm", "NO_COLOR": "1"}, {},                 (True, True, False, 80)),
    (_Tty(),        {"TERM": "xterm"},              {"flag": "never"},      (True, False, False, 80)),
    (_Tty(),        {"TERM": "dumb"},               {},                     (True, False, False, 80)),
    (io.StringIO(), {"TERM": "xterm"},              {},                     (False, False, False, 80)),
    (io.StringIO(), {"TERM": "xterm"},              {"flag": "always"},     (True, True, True, 80)),
]  # fmt: skip


@pytest.mark.parametrize(("stream", "env", "options", "expected"), SCREENS)
def test_a_screen_is_what_the_stream_and_the_environment_say(
    stream: io.StringIO, env: dict[str, str], options: dict[str, Any], expected: object
) -> None:
    screen = screen_of(stream, env=env, **options)

    look = screen.look
    assert (screen.is_terminal, look.escapes, look.colour, look.columns) == expected


def test_ambiguous_characters_may_be_wide() -> None:
    screen = screen_of(io.StringIO(), env={"BLOCKWIRE_AMBIGUOUS_WIDTH": "2"})

    assert screen.look.ambiguous_width == 2


@given(st.text())
def test_what_another_encoding_lacks_is_replaced_by_ascii_of_the_same_width(text: str) -> None:
    line = one_line(text)

    shown = line.encode("ascii", FALLBACK).decode("ascii")

    if line == "".join(c for c in line if width(c) == width(f"a{c}") - 1):
        # A flag is one cluster of two characters: the whole is what counts.
        assert len(shown) == width(line)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a—b…", "a-b."),
        ("“x” • ✓", '"x" * v'),
        ("札幌", "????"),
        ("│─┌", "|-+"),
        ("é", "?"),
        ("\u2827", "\\"),
        ("\U0001f469\u200d\U0001f4bb", "??"),
        ("\u25bc", "v"),
    ],
)
def test_the_nearest_ascii_is_shown(text: str, shown: str) -> None:
    assert text.encode("ascii", FALLBACK).decode() == shown


@pytest.mark.parametrize(
    ("variables", "encoding_"),
    [
        ({}, "utf-8"),
        ({"LANG": "C"}, "ascii"),
        ({"LANG": "POSIX"}, "ascii"),
        ({"LANG": "C.UTF-8"}, "utf-8"),
        ({"LANG": "en_US.UTF-8", "LC_CTYPE": "C"}, "ascii"),
        ({"LANG": "C", "LC_CTYPE": "de_DE.utf8"}, "utf-8"),
        ({"LC_ALL": "POSIX", "LC_CTYPE": "C.UTF-8", "LANG": "C.UTF-8"}, "ascii"),
        ({"LC_ALL": "", "LANG": "de_DE@euro"}, "utf-8"),
        ({"LANG": "de_DE.ISO-8859-15@euro"}, "iso8859-15"),
        ({"LANG": "ja_JP.eucJP"}, "euc_jp"),
        ({"LANG": "xx.ISO-2022-JP"}, "ascii"),
        ({"LANG": "xx.UTF-7"}, "ascii"),
        ({"LANG": "xx.UTF-16"}, "ascii"),
        ({"LANG": "xx.hex"}, "ascii"),
        ({"LANG": "xx.nonsense"}, "ascii"),
    ],
)
def test_the_locale_names_the_encoding_of_a_terminal(
    variables: dict[str, str], encoding_: str
) -> None:
    assert terminal_encoding(variables, is_coerced=False) == encoding_


def test_what_the_interpreter_has_set_names_no_encoding() -> None:
    coerced = {"LANG": "C", "LC_CTYPE": "C.UTF-8"}
    assert terminal_encoding(coerced, is_coerced=True) == "ascii"
    assert terminal_encoding({"LC_CTYPE": "C.UTF-8"}, is_coerced=True) == "utf-8"
    assert terminal_encoding(coerced | {"PYTHONUTF8": "1"}) == "utf-8"


def test_only_writing_falls_back() -> None:
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("utf-8", FALLBACK)


@given(st.binary())
def test_arguments_become_unicode_whatever_their_bytes(data: bytes) -> None:
    argument = data.decode("ascii", "surrogateescape")

    assert readable(argument) == data.decode("utf-8", "replace")


def test_a_lone_surrogate_that_stands_for_no_byte_becomes_a_mark() -> None:
    assert readable("a\ud800b") == "a?b"


def test_closed_streams_are_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)

    repair_streams()

    with sys.stdin as stdin, sys.stdout as stdout, sys.stderr as stderr:
        assert stdin.read() == ""
        write("text")
        note("text")
    assert stdout.closed
    assert stderr.closed
    assert stdout.errors == encoding.FALLBACK


class _Full(io.StringIO):
    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    def write(self, _text: str) -> int:
        raise self._error


def test_a_reader_that_left_is_no_error_and_a_full_disk_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", _Full(BrokenPipeError()))
    with pytest.raises(OutputClosedError):
        write("x")
    monkeypatch.setattr(sys, "stdout", _Full(OSError(28, "No space left on device")))
    with pytest.raises(LocalProtocolError, match="No space left"):
        write("x")
    monkeypatch.setattr(sys, "stderr", _Full(BrokenPipeError()))
    note("nobody hears this")


def test_json_is_utf8_whatever_the_locale_says(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    write_json({"a": "札"})

    assert capsysbinary.readouterr().out == '{"a":"札"}\n'.encode()


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}]
)
def test_no_locale_makes_an_answer_fail(tmp_path: Path, locale: dict[str, str]) -> None:
    env = environment(tmp_path, **locale)

    config = at_once(tmp_path)
    asked = run(
        "ask",
        "--config",
        config,
        b"a\xffb".decode("utf-8", "surrogateescape"),
        env=env,
        cwd=tmp_path,
    )
    listed = run("list", "--json", env=env)

    assert (asked.returncode, asked.stderr) == (0, b"")
    assert asked.stdout
    assert "a\ufffdb" in listed.stdout.decode("utf-8")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("arguments", [("schema", "message"), ("--help",)])
def test_a_reader_that_leaves_early_ends_a_command_quietly(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    with open(writing, "wb") as closed:  # noqa: PTH123 - a descriptor
        ended = subprocess.run(
            command(*arguments),
            stdout=closed,
            stderr=subprocess.PIPE,
            env=environment(tmp_path),
            check=False,
        )

    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.timeout(60)
def test_help_is_fast_because_it_imports_next_to_nothing(tmp_path: Path) -> None:
    """Each of these would cost a tenth of a second; counting them does not depend on the machine."""
    heavy = ("httpx", "uvicorn", "starlette", "markdown_it", "anyio", "msgspec", "sqlite3")
    code = (
        "import sys; from blockwire.cli import main; main(['--help']);"
        f"sys.exit(str([m for m in {heavy} if m in sys.modules]))"
    )

    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=environment(tmp_path), check=False
    )

    assert ended.stderr == b"[]\n"
    assert b"First steps" in ended.stdout
