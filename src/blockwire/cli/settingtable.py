"""Every setting, in one table.

Spec: docs/reference/configuration.md. What they are worth, and where that came from:
:mod:`blockwire.cli.settings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, get_args

__all__ = ["ENV_OTHERS", "ENV_PREFIX", "SETTINGS", "Setting", "SettingName"]

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
    "theme",
    "transcript",
    "mouse",
    "status_line",
    "copy_on_select",
    "program_clipboard",
    "emulator",
    "ambiguous_width",
    "history_mib",
]


class Setting(NamedTuple):
    """One setting.

    Attributes:
        type: Of its value.
        default: None is worked out, or nothing.
        help: What it is for.
        is_secret: Whether its value is never shown.
        most: The largest number that it takes.
        least: The smallest.
        choices: All that it may be; empty for anything.
        has_counts: A text that may be a number instead of one of its choices.
        is_live: A running gateway takes a new value when it reads its configuration again.
    """

    type: type[str | int | list[str]]
    default: str | int | tuple[str, ...] | None
    help: str
    is_secret: bool = False
    most: int = 0
    least: int = 0
    choices: tuple[str, ...] = ()
    has_counts: bool = False
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

TRANSCRIPT_SCREENS_MAX: Final = 100_000
"""More than any history has."""

HISTORY_MIB_MAX: Final = 65_536
"""More than most machines have."""

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
        "theme": Setting(
            str,
            "auto",
            "Colours of term: dark, light, plain, or auto, which asks the terminal",
            choices=("auto", "dark", "light", "plain"),
        ),
        "transcript": Setting(
            str,
            "all",
            "What term leaves on the terminal: all, none, or so many windows full",
            choices=("all", "none"),
            has_counts=True,
            least=1,
            most=TRANSCRIPT_SCREENS_MAX,
        ),
        "mouse": Setting(str, "on", "on or off: whether term asks for the mouse", choices=SWITCH),
        "status_line": Setting(
            str,
            "on",
            "on or off: the last row of term, which says what can be done",
            choices=SWITCH,
        ),
        "copy_on_select": Setting(
            str, "on", "on or off: whether term copies what the mouse selects", choices=SWITCH
        ),
        "program_clipboard": Setting(
            str,
            "on",
            "on or off: whether programs in term may write the clipboard",
            choices=SWITCH,
        ),
        "emulator": Setting(
            str,
            "auto",
            "Emulator of term: ghostty, pyte, or auto, the first that is installed",
            choices=("auto", "ghostty", "pyte"),
        ),
        "ambiguous_width": Setting(
            int,
            1,
            "Cells of characters of ambiguous width, as the terminal has it",
            least=1,
            most=2,
        ),
        "history_mib": Setting(
            int, 64, "MiB of history that term keeps", least=1, most=HISTORY_MIB_MAX
        ),
    }
)
assert SETTINGS.keys() == set(get_args(SettingName)), "every name has its row"

ENV_PREFIX: Final = "BLOCKWIRE_"
# Variables of this program that are no settings.
ENV_OTHERS: Final = frozenset(
    {
        "BLOCKWIRE_CONFIG",
        "BLOCKWIRE_CRASH_AT",
        "BLOCKWIRE_SUITES",
        "BLOCKWIRE_TERMINAL",
    }
)
