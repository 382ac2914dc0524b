"""The settings of engines: one table per kind, what each holds, its default, what it is for.

Spec: docs/spec/gateway/engines.md, "Configuration". The tables check a configuration, and the
reference page and ``blockwire config`` are made of them.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, get_args

from msgspec import Struct

from blockwire.engines.keeper import TurnLimits
from blockwire.errors import LocalProtocolError
from blockwire.providers import PROVIDER_APIS

__all__ = [
    "ENGINE_KINDS",
    "PRICE_NAMES",
    "SETTINGS",
    "EngineConfig",
    "EngineKind",
    "Setting",
    "check_config",
]

EngineKind = Literal["command", "replay", "openai", "anthropic", "gemini", "ollama", "external"]
ENGINE_KINDS: Final[tuple[EngineKind, ...]] = get_args(EngineKind)

SettingType = Literal[
    "text", "words", "number", "count", "boolean", "text table", "table", "price table", "currency"
]

PRICE_NAMES: Final = ("input", "cached_input", "cache_write", "output")
"""What a million tokens may have a price for."""


class Setting(NamedTuple):
    """One key of an engine's table.

    Attributes:
        type: What it holds.
        default: Without it; None means that there is none, which the help explains.
        help: A sentence or two.
        choices: The only values, where there are so few.
        is_required: Whether it has to be there.
        is_secret: Whether its value is never shown.
    """

    type: SettingType
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    is_required: bool = False
    is_secret: bool = False


_LIMITS: Final = TurnLimits()

COMMON: Final[Mapping[str, Setting]] = MappingProxyType(
    {
        "kind": Setting("text", None, "What runs the turn.", ENGINE_KINDS, is_required=True),
        "model": Setting("text", None, "Model of turns that name none."),
        "system": Setting("text", None, "System prompt of conversations that have none."),
        "deadline_s": Setting(
            "number", _LIMITS.deadline_s, "Seconds from a turn's start to its end."
        ),
        "idle_s": Setting("number", _LIMITS.idle_s, "Seconds between two events of a turn."),
        "answer_bytes_max": Setting("count", _LIMITS.bytes_max, "Bytes of one answer."),
        "answer_events_max": Setting("count", _LIMITS.events_max, "Events of one answer."),
        "prices": Setting(
            "price table",
            {},
            'Prices of a million tokens, by model, `"*"` for any other: '
            f"{', '.join(f'`{name}`' for name in PRICE_NAMES)}. Without them no cost is told.",
        ),
        "currency": Setting("currency", "usd", "Of the prices: three letters in lower case."),
    }
)

_COMMAND: Final[dict[str, Setting]] = {
    "command": Setting(
        "words",
        None,
        "Program and arguments. No shell is involved; a text is split at its blanks.",
        is_required=True,
    ),
    "cwd": Setting("text", None, "Working directory; without it the gateway's own."),
    "env": Setting("text table", {}, "Variables to set."),
    "pass_env": Setting(
        "words", [], "Names of variables to pass on, beside a short list of harmless ones."
    ),
    "output": Setting(
        "text",
        "auto",
        "Format of standard output; `auto` looks at its first line.",
        ("auto", "ndjson", "text"),
    ),
    "answers": Setting(
        "boolean",
        default=False,
        help="Leave standard input open: the answer to a question of the program comes there as "
        "one more line.",
    ),
    "kill_grace_s": Setting("number", 2.0, "Seconds between the polite signal and the other one."),
}
_REPLAY: Final[dict[str, Setting]] = {
    "path": Setting("text", None, "File or folder of recordings; without it those of the demo."),
    "recording": Setting(
        "text", None, "Name of the recording to play; without it they take turns."
    ),
    "api": Setting(
        "text",
        None,
        "Wire format of recordings whose name does not tell it.",
        PROVIDER_APIS,
    ),
    "speed": Setting("number", 1.0, "1 as recorded, 2 twice as fast, 0 at once."),
}
_HTTP: Final[dict[str, Setting]] = {
    "base_url": Setting("text", None, "Where the API is; without it the provider's own address."),
    "api_key": Setting("text", None, "The key itself; better is `api_key_env`.", is_secret=True),
    "api_key_env": Setting("text", None, "Variable that holds the key."),
    "provider": Setting(
        "text", None, "Name that messages carry; without it the kind, or the host of `base_url`."
    ),
    "headers": Setting("text table", {}, "More headers of every request.", is_secret=True),
    "options": Setting("table", {}, "Options of turns that do not say otherwise."),
    "sends_images": Setting("boolean", default=True, help="Whether the models take pictures."),
    "connect_timeout_s": Setting("number", 10.0, "Seconds until a connection stands."),
    "read_timeout_s": Setting("number", 120.0, "Seconds between two pieces of an answer."),
    "tries_max": Setting(
        "count", 3, "Calls of one turn, the first included; none after the first visible block."
    ),
}
_OPENAI: Final[dict[str, Setting]] = {
    "api": Setting(
        "text",
        None,
        "Wire format; without it `responses` at OpenAI, and `chat` at another `base_url`.",
        ("responses", "chat"),
    ),
    **_HTTP,
}
_OLLAMA: Final[dict[str, Setting]] = {
    **_HTTP,
    "sends_images": Setting("boolean", default=False, help="Whether the models take pictures."),
}

SETTINGS: Final[Mapping[EngineKind, Mapping[str, Setting]]] = MappingProxyType(
    {
        "command": MappingProxyType({**COMMON, **_COMMAND}),
        "replay": MappingProxyType({**COMMON, **_REPLAY}),
        "openai": MappingProxyType({**COMMON, **_OPENAI}),
        "anthropic": MappingProxyType({**COMMON, **_HTTP}),
        "gemini": MappingProxyType({**COMMON, **_HTTP}),
        "ollama": MappingProxyType({**COMMON, **_OLLAMA}),
        "external": COMMON,
    }
)


def _is_number(value: Any) -> bool:
    return type(value) in {int, float} and 0 <= value < math.inf


def _is_prices(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(prices, Mapping)
        and bool(prices)
        and all(name in PRICE_NAMES and _is_number(price) for name, price in prices.items())
        for prices in value.values()
    )


def _is_currency(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[a-z]{3}", value) is not None


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_TYPES: Final[Mapping[SettingType, tuple[Callable[[Any], bool], str]]] = MappingProxyType(
    {
        "text": (lambda v: isinstance(v, str) and bool(v), "a text that is not empty"),
        "words": (lambda v: _is_texts(v) or isinstance(v, str), "an array of texts"),
        "number": (lambda v: type(v) in {int, float} and v >= 0, "a number, not negative"),
        "count": (lambda v: type(v) is int and v > 0, "an integer above 0"),
        "boolean": (lambda v: isinstance(v, bool), "true or false"),
        "price table": (
            _is_prices,
            f"a table by model of tables with numbers for {', '.join(PRICE_NAMES)}",
        ),
        "currency": (_is_currency, "three letters in lower case, such as usd"),
        "text table": (
            lambda v: isinstance(v, Mapping) and all(isinstance(i, str) for i in v.values()),
            "a table of texts",
        ),
        "table": (lambda v: isinstance(v, Mapping), "a table"),
    }
)


class EngineConfig(Struct, frozen=True, kw_only=True):
    """A table of the configuration that was found good.

    Attributes:
        name: ``NAME`` of ``[engines.NAME]``.
        kind: What runs the turn.
        values: Every setting of its kind, defaults filled in.
    """

    name: str
    kind: EngineKind
    values: Mapping[str, Any]

    @property
    def limits(self) -> TurnLimits:
        """What one turn may use up."""
        return TurnLimits(
            deadline_s=self.values["deadline_s"],
            idle_s=self.values["idle_s"],
            bytes_max=self.values["answer_bytes_max"],
            events_max=self.values["answer_events_max"],
        )

    @property
    def is_external(self) -> bool:
        """Whether a producer outside posts the events."""
        return self.kind == "external"


def check_config(name: str, config: Mapping[str, Any]) -> EngineConfig:
    """Return the settings of ``[engines.NAME]`` with their defaults.

    Raises:
        LocalProtocolError: ``invalid_config``, naming the key and what is allowed there.
    """
    kind = config.get("kind")
    if kind not in ENGINE_KINDS:
        problem = "`kind` is missing" if kind is None else f"there is no kind {kind!r}"
        raise _refuse(name, "kind", f"{problem}; it is one of {', '.join(ENGINE_KINDS)}.")
    settings = SETTINGS[kind]
    for key, value in config.items():
        _check_setting(name, kind, key, value)
    for key, setting in settings.items():
        if setting.is_required and key not in config:
            raise _refuse(name, key, f"`{key}` is missing: {setting.help}")
    defaults = {key: setting.default for key, setting in settings.items()}
    return EngineConfig(name=name, kind=kind, values={**defaults, **config})


def _check_setting(name: str, kind: EngineKind, key: str, value: Any) -> None:
    settings = SETTINGS[kind]
    setting = settings.get(key)
    if setting is None:
        close = difflib.get_close_matches(key, settings, n=1)
        hint = f" Did you mean `{close[0]}`?" if close else ""
        raise _refuse(
            name, key, f"there is no setting `{key}`.{hint} There are: {', '.join(settings)}."
        )
    test, expected = _TYPES[setting.type]
    if not test(value):
        raise _refuse(name, key, f"`{key}` is {expected}.")
    if setting.choices and value not in setting.choices:
        raise _refuse(name, key, f"`{key}` is one of {', '.join(setting.choices)}.")


def _refuse(name: str, key: str, sentence: str) -> LocalProtocolError:
    return LocalProtocolError(
        "invalid_config", f"engines.{name}: {sentence}", pointer=f"/engines/{name}/{key}"
    )
