"""``blockwire term`` as a command: what it refuses, what it sets, and ``blockwire config`` about it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from blockwire.cli.keysettings import default_keys, keymap_of
from blockwire.cli.settings import SettingName, load_config
from blockwire.cli.termoptions import new_session
from blockwire.errors import LocalProtocolError
from blockwire.host.outer import OuterColours
from tests.cli.conftest import Run
from tests.host.driver.outers import Outer
from tests.support.programs import decoded, run

TERM = (sys.executable, "-m", "blockwire", "term")


@pytest.mark.requirement("host:process:needs-a-terminal")
def test_what_is_no_terminal_is_refused_with_a_sentence(tmp_path: Path) -> None:
    ended = run("term", "--", "true", env={"TERM": "xterm", "HOME": str(tmp_path)})

    assert ended.returncode == 2
    assert b"term needs a terminal: standard input is not one." in ended.stderr
    assert ended.stdout == b""


@pytest.mark.requirement("host:process:needs-a-terminal")
@pytest.mark.parametrize("term", ["dumb", "", "unknown"])
def test_a_terminal_that_cannot_be_drawn_on_is_refused(term: str) -> None:
    with Outer([*TERM, "--", "true"], env={"TERM": term}) as outer:
        assert outer.read_to_end() == 2
        assert b"term needs a terminal that it can draw on" in outer.output
        assert b"\x1b" not in outer.output


@pytest.mark.requirement("host:drawing:charset")
def test_in_a_locale_of_ascii_only_ascii_is_written() -> None:
    program = r"printf '\033]2;caf\303\251\007'; printf 'caf\303\251 \342\224\200|\n'; read end"
    with Outer([*TERM, "--", "sh", "-c", program], env={"LC_ALL": "C"}) as outer:
        outer.until_shown("caf? -|")
        outer.press("\r")
        assert outer.read_to_end() == 0

    assert outer.output.isascii()


@pytest.mark.requirement("host:process:needs-a-terminal")
def test_output_that_goes_elsewhere_is_refused() -> None:
    with Outer(["sh", "-c", f"{' '.join(TERM)} -- true | cat"]) as outer:
        assert outer.read_to_end() == 0
        assert b"term needs a terminal: standard output is not one." in outer.output


@pytest.mark.parametrize(
    ("program", "status", "sentence"),
    [
        ("no-such-program", 127, "cannot start no-such-program"),
        ("./no/such/program", 127, "cannot start ./no/such/program"),
        ("/etc/passwd", 126, "cannot start /etc/passwd"),
        ("/", 126, "cannot start /"),
    ],
)
def test_what_cannot_be_started_is_told_before_the_screen_is_hidden(
    program: str, status: int, sentence: str
) -> None:
    with Outer([*TERM, "--", program]) as outer:
        assert outer.read_to_end() == status
        assert sentence in outer.output.decode()
        assert b"\x1b" not in outer.output


def test_a_wrong_key_is_told_before_the_screen_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text('[keys]\n"live.prefx" = "f5"\n', encoding="utf-8")

    with Outer([*TERM, "--config", str(tmp_path / "wrong.toml"), "--", "true"]) as outer:
        assert outer.read_to_end() == 1
        assert "the nearest is live.prefix" in "".join(outer.screen.main.lines())
        assert b"\x1b" not in outer.output


PRECEDENCE: list[tuple[SettingName, str, Any]] = [
    # name,            variable, in the file
    ("theme",             "light", "plain"),
    ("transcript",        "3",     2),
    ("transcript",        "none",  "all"),
    ("mouse",             "off",   "on"),
    ("status_line",       "off",   "on"),
    ("copy_on_select",    "off",   "on"),
    ("program_clipboard", "off",   "on"),
    ("emulator",          "pyte",  "ghostty"),
    ("ambiguous_width",   "2",     1),
    ("history_mib",       "8",     9),
]  # fmt: skip


@pytest.mark.parametrize(("name", "variable", "in_file"), PRECEDENCE)
def test_each_setting_has_its_variable_and_its_line(
    tmp_path: Path, name: SettingName, variable: str, in_file: Any
) -> None:
    file = tmp_path / "blockwire.toml"
    value = f'"{in_file}"' if isinstance(in_file, str) else in_file
    file.write_text(f"{name} = {value}\n", encoding="utf-8")
    env = {"BLOCKWIRE_CONFIG": str(file)}

    assert str(load_config({}, path=None, env=env)[name]) == str(in_file)
    config = load_config({}, path=None, env={**env, f"BLOCKWIRE_{name.upper()}": variable})
    assert str(config[name]) == variable
    assert config.settings[name].origin == "environment"


REFUSED: list[tuple[str, str]] = [
    ("transcript = 0", "or a number from 1 to 100000"),
    ("transcript = 'some'", "transcript is one of all, none, or a number"),
    ("transcript = true", "transcript is a string"),
    ("ambiguous_width = 3", "from 1 to 2"),
    ("ambiguous_width = 0", "from 1 to 2"),
    ("mouse = 'maybe'", "mouse is one of on, off"),
    ("keys = 1", "keys are texts"),
    ("[keys]\nx = 1", "keys are texts"),
    ("[keys.live]\nprefix = [1]", "keys are texts"),
    ("[keys.live]\nprefix = 'no-such-key'", "[keys] live.prefix"),
    ("[keys.live]\nprefix = 'f5'\ntop = 'f5'", "F5 would do both"),
    ("colours = 1", "colours are texts"),
    ("[colours]\nselection = 1", "colours are texts"),
    ("[colours]\nselektion = 'blue'", "selection"),
    ("[colours]\nselection = 'blau'", "[colours]"),
]


@pytest.mark.parametrize(("text", "sentence"), REFUSED)
def test_a_wrong_file_is_refused_wherever_it_is_read(
    home: Path, blockwire: Run, text: str, sentence: str
) -> None:
    (home / "wrong.toml").write_text(text, encoding="utf-8")

    for arguments in (("config", "--config", "wrong.toml"), ("config", "check", "wrong.toml")):
        ended = blockwire(*arguments)
        assert ended.status == 1
        assert sentence in ended.err
        assert "[invalid_config]" in ended.err


def test_config_shows_all_keys_and_colours_and_where_they_came_from(
    home: Path, blockwire: Run
) -> None:
    (home / "mine.toml").write_text(
        '[keys]\n"live.prefix" = "ctrl-a f5"\n[keys.copy]\nleave = ["q"]\n'
        '[colours]\nselection = "black on yellow"\n',
        encoding="utf-8",
    )

    shown = blockwire("config", "--config", "mine.toml").out
    document = decoded(blockwire("config", "--config", "mine.toml", "--json").out)

    rows = {line.split()[0]: line for line in shown.splitlines() if "." in line}
    assert "ctrl-a, f5" in rows["keys.live.prefix"]
    assert rows["keys.live.prefix"].endswith("mine.toml")
    assert rows["keys.live.page-up"].endswith("default")
    assert "black on yellow" in rows["colours.selection"]
    assert document["keys"].keys() == default_keys().keys()
    assert document["keys"]["copy.leave"] == {
        "value": ["q"],
        "origin": "file",
        "detail": "mine.toml",
    }
    assert document["colours"]["match"]["origin"] == "default"


def test_keys_of_the_file_are_what_the_session_goes_by(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[keys.live]\nprefix = 'ctrl-a'\n", encoding="utf-8")

    keymap = keymap_of(load_config({}, path=str(tmp_path / "mine.toml"), env={}))

    assert keymap.action("live", "ctrl-a") == "prefix"
    assert keymap.action("live", "ctrl-]") is None


THEMES: list[tuple[str, str | None, dict[str, str], bytes]] = [
    # theme,  background, environment,               in the first frame
    ("auto",  None,      {"COLORTERM": "truecolor"}, b"48;2;44;49;60"),
    ("auto",  "#101010", {"COLORTERM": "truecolor"}, b"48;2;44;49;60"),
    ("auto",  "#fdf6e3", {"COLORTERM": "truecolor"}, b"48;2;223;227;234"),
    ("light", "#101010", {"COLORTERM": "truecolor"}, b"48;2;223;227;234"),
    ("dark",  "#fdf6e3", {"COLORTERM": "truecolor"}, b"48;2;44;49;60"),
    ("plain", None,      {"COLORTERM": "truecolor"}, b"\x1b[7m"),
    ("light", None,      {"TERM": "xterm-256color"}, b"48;5;"),
    ("light", None,      {"NO_COLOR": "1"},          b"\x1b[7m"),
]  # fmt: skip


@pytest.mark.requirement("host:process:colour-depth")
@pytest.mark.parametrize(("theme", "background", "env", "drawn"), THEMES)
def test_the_theme_follows_the_setting_and_else_the_terminal(
    theme: str, background: str | None, env: dict[str, str], drawn: bytes
) -> None:
    config = load_config({"theme": theme}, path=None, env={})
    env = {"TERM": "xterm", **env}

    core = new_session(config, color="auto", env=env)(80, 24, OuterColours(None, background))

    assert drawn in core.paint()


def test_an_emulator_that_is_not_there_is_told() -> None:
    source = (
        "import sys\nsys.modules['pyte'] = None\n"
        "from blockwire.cli.settings import load_config\n"
        "from blockwire.cli.termoptions import new_session\n"
        "new_session(load_config({'emulator': 'pyte'}, path=None, env={}), color='auto', env={})"
    )
    ended = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, check=False, env={"PYTHONPATH": "src"}
    )

    assert b"emulator_missing" in ended.stderr


def test_settings_reach_the_session() -> None:
    config = load_config({"status_line": "off"}, path=None, env={})

    core = new_session(config, color="auto", env={"TERM": "xterm"})(80, 24, OuterColours())

    assert core.program_size == (80, 24)


def test_a_wrong_setting_is_found_before_anything_is_drawn() -> None:
    config = load_config({}, path=None, env={})
    wrong = type(config)(config.settings, {}, None, {"nothing": ("f5",)}, {})

    with pytest.raises(LocalProtocolError) as caught:
        new_session(wrong, color="auto", env={})
    assert caught.value.code == "invalid_config"
