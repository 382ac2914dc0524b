"""What is in force, and where it came from."""

from pathlib import Path
from typing import Any, get_args

import pytest

from blockwire.cli.settings import (
    SETTINGS,
    SettingName,
    config_path,
    data_folder,
    load_config,
    unknown_variables,
)
from blockwire.errors import LocalProtocolError
from tests.cli.conftest import Run

PRECEDENCE: list[tuple[bool, bool, bool, Any, str]] = [
    # flag, environment, file,    value, origin
    (False, False, False,         7890, "default"),
    (False, False, True,          1, "file"),
    (False, True,  False,         2, "environment"),
    (False, True,  True,          2, "environment"),
    (True,  False, False,         3, "flag"),
    (True,  False, True,          3, "flag"),
    (True,  True,  False,         3, "flag"),
    (True,  True,  True,          3, "flag"),
]  # fmt: skip


@pytest.mark.parametrize(("flag", "variable", "in_file", "value", "origin"), PRECEDENCE)
def test_a_flag_beats_the_environment_which_beats_the_file_which_beats_the_default(
    tmp_path: Path, flag: bool, variable: bool, in_file: bool, value: Any, origin: str
) -> None:
    file = tmp_path / "blockwire.toml"
    file.write_text("port = 1\n" if in_file else "", encoding="utf-8")
    env = {"BLOCKWIRE_CONFIG": str(file), **({"BLOCKWIRE_PORT": "2"} if variable else {})}

    config = load_config({"port": 3 if flag else None}, path=None, env=env)

    assert config["port"] == value
    assert config.settings["port"].origin == origin
    assert config.path == file


REFUSED_FILES: list[tuple[str, str]] = [
    ("prot = 1", "did you mean port?"),
    ("[engins.x]\nkind = 'command'", "did you mean engines?"),
    ("nothing_like_it = 1", "there is no setting nothing_like_it"),
    ("port = 'x'", "port is a number"),
    ("port = true", "port is a number"),
    ("port = 65536", "from 0 to 65535"),
    ("port = -1", "from 0 to 65535"),
    ("tick_ms = 10001", "from 0 to 10000"),
    ("host = 1", "host is a string"),
    ("allowed_hosts = 'x'", "allowed_hosts is an array of strings"),
    ("allowed_hosts = [1]", "allowed_hosts is an array of strings"),
    ("log_level = 'loud'", "log_level is one of"),
    ("engines = 1", "engines are tables"),
    ("[engines]\nx = 1", "engines are tables"),
    ("port = ", "is not TOML"),
    ("[engines.x]\nkind = 'comand'", "there is no kind 'comand'"),
    ("[engines.x]\nkind = 'command'\ncomand = 'x'", "Did you mean `command`?"),
    ("engine = 'opnai'", "did you mean openai?"),
    ("engine = 'zzzzzz'", "there is no engine zzzzzz."),
    ("engine = 'command'", "--program"),
]


@pytest.mark.parametrize(("text", "sentence"), REFUSED_FILES)
def test_a_wrong_file_is_refused_with_a_sentence_that_helps(
    home: Path, blockwire: Run, text: str, sentence: str
) -> None:
    (home / "wrong.toml").write_text(text, encoding="utf-8")

    ended = blockwire("config", "--config", "wrong.toml")

    assert ended.status == 1
    assert sentence in ended.err
    assert ended.err.rstrip().endswith("[invalid_config]")
    assert ended.out == ""


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("PORT", "x", "expected a number from 0 to 65535"),
        ("PORT", "9" * 5000, "expected a number"),
        ("PORT", "٣", "expected a number"),
        ("PORT", "65536", "expected a number"),
        ("LOG_LEVEL", "loud", "BLOCKWIRE_LOG_LEVEL: log_level is one of"),
        ("CONFIG", "none.toml", "there is no configuration file none.toml"),
        ("CONFIG", "/", "cannot be read"),
    ],
)
def test_a_wrong_variable_is_named(
    monkeypatch: pytest.MonkeyPatch, blockwire: Run, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(f"BLOCKWIRE_{name}", value)

    ended = blockwire("config")

    assert (ended.status, sentence in ended.err) == (1, True), ended.err


def test_lists_come_from_variables_with_commas() -> None:
    env = {"BLOCKWIRE_ALLOWED_HOSTS": "a.example, b.example,,", "HOME": "/nowhere"}

    assert load_config({}, path=None, env=env)["allowed_hosts"] == ["a.example", "b.example"]


def test_a_variable_that_sets_nothing_is_told() -> None:
    env = {"BLOCKWIRE_STOR": "x", "BLOCKWIRE_PORT": "1", "BLOCKWIRE_CONFIG": "", "OTHER": ""}

    assert unknown_variables(env) == ["BLOCKWIRE_STOR sets nothing (did you mean BLOCKWIRE_STORE?)"]


@pytest.mark.parametrize(
    ("env", "data", "config"),
    [
        ({"XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"}, "/d/blockwire", "/c/blockwire/config.toml"),
        ({"HOME": "/h"}, "/h/.local/share/blockwire", "/h/.config/blockwire/config.toml"),
        # The XDG standard: a relative path is to be ignored.
        ({"HOME": "/h", "XDG_DATA_HOME": "d", "XDG_CONFIG_HOME": "c"},
         "/h/.local/share/blockwire", "/h/.config/blockwire/config.toml"),
    ],
)  # fmt: skip
def test_folders_follow_the_xdg_standard(env: dict[str, str], data: str, config: str) -> None:
    assert (str(data_folder(env)), str(config_path(env))) == (data, config)


def test_config_shows_every_setting_and_hides_secrets(
    home: Path, monkeypatch: pytest.MonkeyPatch, blockwire: Run
) -> None:
    (home / "file.toml").write_text(
        'port = 1\nallowed_hosts = ["a", "b"]\n'
        '[engines.mine]\nkind = "openai"\napi_key = "sk-very-secret"\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("BLOCKWIRE_TOKEN", "also-secret")
    monkeypatch.setenv("BLOCKWIRE_STOR", "x")

    shown = blockwire("config", "--config", "file.toml", "--store", "memory:")
    as_json = blockwire("config", "--config", "file.toml", "--json")

    rows = {line.split()[0]: line.split()[1:] for line in shown.out.splitlines() if line}
    assert set(get_args(SettingName)) == set(SETTINGS) <= rows.keys()
    assert rows["port"] == ["1", "file.toml"]
    assert rows["store"] == ["memory:", "--store"]
    assert rows["allowed_hosts"] == ["a,", "b", "file.toml"]
    assert rows["token"] == ["(hidden)", "BLOCKWIRE_TOKEN"]
    assert rows["engines.mine.api_key"] == ["(hidden)", "file.toml"]
    assert "BLOCKWIRE_STOR sets nothing" in shown.err
    for text in (shown.out, as_json.out):
        assert "secret" not in text
    assert '"origin":"file"' in as_json.out


def test_config_says_which_file_would_be_read(blockwire: Run) -> None:
    assert "config/blockwire/config.toml would be read" in blockwire("config").out


def test_a_file_that_is_named_must_be_there() -> None:
    with pytest.raises(LocalProtocolError) as caught:
        load_config({}, path="none.toml", env={})

    assert caught.value.code == "invalid_config"
