"""What can be set, in one table; where each value came from.

Spec: docs/reference/configuration.md. A flag beats the environment, which beats the file, which
beats the default.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from blockwire.cli.settingtable import ENV_OTHERS, ENV_PREFIX, SETTINGS, Setting, SettingName
from blockwire.errors import LocalProtocolError

__all__ = [
    "ENV_PREFIX",
    "SETTINGS",
    "Config",
    "Resolved",
    "Setting",
    "SettingName",
    "config_path",
    "data_folder",
    "is_choice",
    "load_config",
    "unknown_variables",
]

Origin = Literal["default", "file", "environment", "flag"]


class Resolved(NamedTuple):
    """A value and where it came from: ``detail`` names the file, variable or flag."""

    value: Any
    origin: Origin
    detail: str


class Config(Struct, frozen=True):
    """Everything that is set.

    Attributes:
        settings: By name.
        engines: Tables of the file, by engine name, not checked yet.
        keys: Of the terminal programs: an action to its keys, as the file has it, not checked yet.
        colours: Of the terminal programs: a role to its look, likewise.
        path: The file that was read, if any.
    """

    settings: Mapping[SettingName, Resolved]
    engines: Mapping[str, Mapping[str, Any]]
    path: Path | None
    keys: Mapping[str, Sequence[str]] = MappingProxyType({})
    colours: Mapping[str, str] = MappingProxyType({})

    def __getitem__(self, name: SettingName) -> Any:
        """Return the value of a setting."""
        return self.settings[name].value


def data_folder(env: Mapping[str, str]) -> Path:
    """Return where the default store lies: ``$XDG_DATA_HOME/blockwire``."""
    base = env.get("XDG_DATA_HOME") or ""
    root = Path(base) if Path(base).is_absolute() else Path(env.get("HOME") or "~").expanduser()
    return root / "blockwire" if Path(base).is_absolute() else root / ".local/share/blockwire"


def config_path(env: Mapping[str, str]) -> Path:
    """Return the file that is read without ``--config``: ``$XDG_CONFIG_HOME/blockwire/config.toml``."""
    base = env.get("XDG_CONFIG_HOME") or ""
    if Path(base).is_absolute():
        return Path(base) / "blockwire/config.toml"
    return Path(env.get("HOME") or "~").expanduser() / ".config/blockwire/config.toml"


def _refuse(detail: str) -> LocalProtocolError:
    return LocalProtocolError("invalid_config", detail)


def _read_file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise _refuse(f"there is no configuration file {path}; check the name") from None
    except OSError as error:
        raise _refuse(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _refuse(f"{path} is not TOML: {error}") from None


def _from_text(name: SettingName, text: str, where: str) -> Any:
    kind = SETTINGS[name].type
    if kind is int:
        # A number with more digits than any bound would take long to read.
        if not (text.isascii() and text.isdecimal() and len(text) <= 9):
            raise _refuse(f"{where}: {_number(name)}")
        return _bounded(name, int(text), where)
    if kind is str:
        return text
    return [part.strip() for part in text.split(",") if part.strip()]


def _number(name: SettingName) -> str:
    return f"expected a number from {SETTINGS[name].least} to {SETTINGS[name].most}"


def _bounded(name: SettingName, value: int, where: str) -> int:
    if not SETTINGS[name].least <= value <= SETTINGS[name].most:
        raise _refuse(f"{where}: {_number(name)}")
    return value


def _from_file(name: SettingName, value: Any, path: Path) -> Any:
    kind = SETTINGS[name].type
    if kind is int and type(value) is int:
        return _bounded(name, value, f"{path}: {name}")
    if SETTINGS[name].has_counts and type(value) is int:
        return str(value)
    if kind is str and isinstance(value, str):
        return value
    if (
        kind not in {int, str}
        and isinstance(value, list)
        and all(isinstance(item, str) for item in value)
    ):
        return value
    wanted = {int: "a number", str: "a string"}.get(kind, "an array of strings")
    raise _refuse(f"{path}: {name} is {wanted}")


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def unknown_variables(env: Mapping[str, str]) -> list[str]:
    """Return a sentence for each ``BLOCKWIRE_*`` variable that sets nothing."""
    known = {ENV_PREFIX + name.upper() for name in SETTINGS} | ENV_OTHERS
    return [
        f"{name} sets nothing{_nearest(name, sorted(known))}"
        for name in sorted(env)
        if name.startswith(ENV_PREFIX) and name not in known
    ]


def _default(name: SettingName, env: Mapping[str, str]) -> Any:
    if name == "store":
        return f"sqlite:///{data_folder(env) / 'conversations.db'}"
    default = SETTINGS[name].default
    return list(default) if isinstance(default, tuple) else default


def load_config(
    flags: Mapping[str, Any], *, path: str | None, env: Mapping[str, str] = os.environ
) -> Config:
    """Return every setting with its origin.

    Args:
        flags: Values given on the command line; None means not given.
        path: ``--config``; else ``BLOCKWIRE_CONFIG``; else the user's file, if it is there.
        env: The environment.

    Raises:
        LocalProtocolError: ``invalid_config``, with a sentence that names the key and the file.
    """
    named = path or env.get("BLOCKWIRE_CONFIG") or None
    file = Path(named) if named else config_path(env)
    table = _read_file(file) if named or file.is_file() else {}
    read = file if table or named else None
    engines = _engine_tables(table.pop("engines", {}), file)
    keys = _key_table(table.pop("keys", {}), file)
    colours = _colour_table(table.pop("colours", {}), file)
    for key in table:
        if key not in SETTINGS:
            known = (*SETTINGS, "engines", "keys", "colours")
            raise _refuse(
                f"{file}: there is no setting {key}{_nearest(key, known)}; there are "
                f"{', '.join(SETTINGS)}, [engines.NAME], [keys] and [colours]"
            )
    settings: dict[SettingName, Resolved] = {}
    for name in SETTINGS:
        settings[name] = _resolve(name, flags, env, table, file)
    for name, setting in SETTINGS.items():
        if setting.choices and not is_choice(setting, settings[name].value):
            where = settings[name].detail
            numbers = f", or a number from {setting.least} to {setting.most}"
            raise _refuse(
                f"{where}: {name} is one of {', '.join(setting.choices)}"
                f"{numbers if setting.has_counts else ''}"
            )
    return Config(MappingProxyType(settings), engines, read, keys, colours)


def is_choice(setting: Setting, value: str) -> bool:
    """Return whether a setting that has choices may be that."""
    is_number = setting.has_counts and value.isascii() and value.isdecimal() and len(value) <= 9
    return value in setting.choices or (is_number and setting.least <= int(value) <= setting.most)


def _resolve(
    name: SettingName,
    flags: Mapping[str, Any],
    env: Mapping[str, str],
    table: Mapping[str, Any],
    file: Path,
) -> Resolved:
    flag = flags.get(name)
    if flag is not None:
        return Resolved(flag, "flag", f"--{name.replace('_', '-')}")
    variable = ENV_PREFIX + name.upper()
    if env.get(variable):
        return Resolved(_from_text(name, env[variable], variable), "environment", variable)
    if name in table:
        return Resolved(_from_file(name, table[name], file), "file", str(file))
    return Resolved(_default(name, env), "default", "")


def _engine_tables(value: Any, file: Path) -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(value, dict) or not all(isinstance(item, dict) for item in value.values()):
        raise _refuse(f"{file}: engines are tables: [engines.NAME]")
    return MappingProxyType(value)


def _key_table(value: Any, file: Path) -> Mapping[str, Sequence[str]]:
    """Return the keys of actions; ``[keys]`` with ``live.prefix`` is the same as ``[keys.live]``."""
    detail = f'{file}: keys are texts or arrays of texts: [keys] "live.prefix" = "ctrl-a"'
    if not isinstance(value, dict):
        raise _refuse(detail)
    found: dict[str, Sequence[str]] = {}
    for name, item in value.items():
        inner = item if isinstance(item, dict) else {"": item}
        for action, keys in inner.items():
            is_list = isinstance(keys, list) and all(isinstance(key, str) for key in keys)
            if not (is_list or isinstance(keys, str)):
                raise _refuse(detail)
            found[f"{name}.{action}".removesuffix(".")] = (
                keys.split() if isinstance(keys, str) else keys
            )
    return MappingProxyType(found)


def _colour_table(value: Any, file: Path) -> Mapping[str, str]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise _refuse(f'{file}: colours are texts: [colours] selection = "black on yellow"')
    return MappingProxyType(value)
