"""What can be set, in one table; where each value came from.

Spec: docs/reference/configuration.md. A flag beats the environment, which beats the file, which
beats the default.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, get_args

from msgspec import Struct

from blockwire.errors import LocalProtocolError

__all__ = [
    "SETTINGS",
    "Config",
    "Resolved",
    "Setting",
    "SettingName",
    "config_path",
    "data_folder",
    "load_config",
    "unknown_variables",
]

SettingName = Literal[
    "store",
    "host",
    "port",
    "engine",
    "token_file",
    "allowed_hosts",
    "allowed_origins",
    "trusted_proxies",
    "requests_per_s",
    "tick_ms",
    "queue_max",
    "on_turn_end",
    "on_turn_waiting",
    "webhook_url",
    "webhook_key",
    "upkeep_s",
    "keep_days",
    "keep_conversation_mib",
    "keep_total_mib",
    "keep_pairs_days",
    "attachment_mib",
    "attachments_tenant_mib",
    "attachments_mib",
    "keep_unnamed_hours",
    "url",
    "token",
    "log_level",
    "log_format",
    "access_log",
    "stop_s_max",
]
Origin = Literal["default", "file", "environment", "flag"]


class Setting(NamedTuple):
    """One setting.

    Attributes:
        type: Of its value.
        default: None is worked out, or nothing.
        help: What it is for.
        is_secret: Whether its value is never shown.
        most: The largest number that it takes; none is below 0.
        choices: All that it may be; empty for anything.
        is_live: A running gateway takes a new value when it reads its configuration again.
    """

    type: type[str | int | list[str]]
    default: str | int | tuple[str, ...] | None
    help: str
    is_secret: bool = False
    most: int = 0
    choices: tuple[str, ...] = ()
    is_live: bool = False


PORT_MAX: Final = 65_535
LOG_LEVELS: Final = ("debug", "info", "warning", "error")
LOG_FORMATS: Final = ("text", "json")
SWITCH: Final = ("on", "off")

REQUESTS_PER_S_MAX: Final = 1_000_000
"""More than one process can answer."""

TICK_MS_MAX: Final = 10_000
"""Beyond this a live answer no longer looks alive."""

QUEUE_MAX: Final = 10_000
"""More than anybody waits for."""

DAY_S: Final = 86_400
KEEP_DAYS_MAX: Final = 36_500
KEEP_MIB_MAX: Final = 100_000_000

SETTINGS: Final[Mapping[SettingName, Setting]] = MappingProxyType(
    {
        "store": Setting(str, None, "Where conversations live: sqlite:///PATH or memory:"),
        "host": Setting(str, "127.0.0.1", "Address that serve binds to"),
        "port": Setting(int, 7890, "Port that serve binds to; 0 picks one", most=PORT_MAX),
        "engine": Setting(str, None, "Engine of turns that name none", is_live=True),
        "token_file": Setting(str, None, "TOML file with the tokens that may call", is_live=True),
        "allowed_hosts": Setting(
            list[str], (), "More names under which a loopback bind is called", is_live=True
        ),
        "allowed_origins": Setting(list[str], (), "Origins of pages that may call", is_live=True),
        "trusted_proxies": Setting(
            list[str], (), "Addresses of proxies whose X-Forwarded-For is believed", is_live=True
        ),
        "requests_per_s": Setting(
            int,
            0,
            "Requests of one token, sustained; 0 for no bound",
            most=REQUESTS_PER_S_MAX,
            is_live=True,
        ),
        "tick_ms": Setting(
            int, 0, "Live readers of busy conversations wait that long for more", most=TICK_MS_MAX
        ),
        "queue_max": Setting(
            int, 16, "Turns that wait for one conversation; 0 for none", most=QUEUE_MAX
        ),
        "on_turn_end": Setting(
            str, None, "Program that hears when a turn ends; words as in a shell"
        ),
        "on_turn_waiting": Setting(str, None, "The same for a turn that waits for a person"),
        "webhook_url": Setting(str, None, "Address that both are posted to", is_secret=True),
        "webhook_key": Setting(str, None, "Key that signs what is posted", is_secret=True),
        "upkeep_s": Setting(
            int,
            60,
            "Seconds between two rounds of merging, retention and vacuum; 0 for never",
            most=DAY_S,
        ),
        "keep_days": Setting(
            int,
            0,
            "Days that events of finished turns stay (messages stay for ever); 0 for no bound",
            most=KEEP_DAYS_MAX,
        ),
        "keep_conversation_mib": Setting(
            int, 0, "MiB of events of one conversation; 0 for no bound", most=KEEP_MIB_MAX
        ),
        "keep_total_mib": Setting(
            int, 0, "MiB of events of all conversations; 0 for no bound", most=KEEP_MIB_MAX
        ),
        "keep_pairs_days": Setting(
            int,
            0,
            "Days that a cursor inside merged text needs no snapshot; 0 for no bound",
            most=KEEP_DAYS_MAX,
        ),
        "attachment_mib": Setting(
            int, 64, "MiB of one attachment; 0 takes only empty ones", most=KEEP_MIB_MAX
        ),
        "attachments_tenant_mib": Setting(
            int, 10_240, "MiB of all attachments of one tenant; 0 for no bound", most=KEEP_MIB_MAX
        ),
        "attachments_mib": Setting(
            int, 51_200, "MiB of all attachments; 0 for no bound", most=KEEP_MIB_MAX
        ),
        "keep_unnamed_hours": Setting(
            int,
            24,
            "Hours that an attachment stays which no message names; 0 for no bound",
            most=KEEP_DAYS_MAX,
        ),
        "url": Setting(str, None, "Gateway that ask, watch, list and show talk to"),
        "token": Setting(str, None, "Token that they send", is_secret=True),
        "log_level": Setting(
            str,
            "warning",
            "debug, info, warning or error, to stderr",
            choices=LOG_LEVELS,
            is_live=True,
        ),
        "log_format": Setting(
            str, "text", "text or json, one line a record", choices=LOG_FORMATS, is_live=True
        ),
        "access_log": Setting(
            str,
            "on",
            "on or off: a line for each request, from the level info on",
            choices=SWITCH,
            is_live=True,
        ),
        "stop_s_max": Setting(
            int, 10, "Seconds that turns and programs have to end when serve stops", most=3_600
        ),
    }
)
assert SETTINGS.keys() == set(get_args(SettingName)), "every name has its row"

ENV_PREFIX: Final = "BLOCKWIRE_"
# Variables of this program that are no settings.
ENV_OTHERS: Final = frozenset(
    {
        "BLOCKWIRE_AMBIGUOUS_WIDTH",
        "BLOCKWIRE_CONFIG",
        "BLOCKWIRE_CRASH_AT",
        "BLOCKWIRE_SUITES",
    }
)


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
        path: The file that was read, if any.
    """

    settings: Mapping[SettingName, Resolved]
    engines: Mapping[str, Mapping[str, Any]]
    path: Path | None

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
    return f"expected a number from 0 to {SETTINGS[name].most}"


def _bounded(name: SettingName, value: int, where: str) -> int:
    if not 0 <= value <= SETTINGS[name].most:
        raise _refuse(f"{where}: {_number(name)}")
    return value


def _from_file(name: SettingName, value: Any, path: Path) -> Any:
    kind = SETTINGS[name].type
    if kind is int and type(value) is int:
        return _bounded(name, value, f"{path}: {name}")
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
    for key in table:
        if key not in SETTINGS:
            known = (*SETTINGS, "engines")
            raise _refuse(
                f"{file}: there is no setting {key}{_nearest(key, known)}; there are "
                f"{', '.join(SETTINGS)} and [engines.NAME]"
            )
    settings: dict[SettingName, Resolved] = {}
    for name in SETTINGS:
        settings[name] = _resolve(name, flags, env, table, file)
    for name, setting in SETTINGS.items():
        if setting.choices and settings[name].value not in setting.choices:
            where = settings[name].detail
            raise _refuse(f"{where}: {name} is one of {', '.join(setting.choices)}")
    return Config(MappingProxyType(settings), engines, read)


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
