"""The tables of ``docs/reference/engines.md``, made of the tables that check a configuration.

``python -m tests.engines.settings_page`` writes them anew, and so does nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from blockwire.engines import SETTINGS, Setting
from blockwire.engines.options import OPTIONS
from blockwire.engines.settings import COMMON
from tests.suites import PROJECT

PAGE: Final = PROJECT / "docs" / "reference" / "engines.md"
TYPES: Final[Mapping[str, str]] = {"words": "array of texts", "text table": "table of texts"}
OPTIONS_PREFIX: Final = "options-"
MARKED: Final = re.compile(r"(<!-- table: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(name: str) -> str:
    """Return the rows of one table: the common settings, those of a kind, or options of an API."""
    if name.startswith(OPTIONS_PREFIX):
        return _options_table(name.removeprefix(OPTIONS_PREFIX))
    settings = COMMON if name == "common" else _own(name)
    rows = [_row(key, setting) for key, setting in settings.items()]
    return "\n".join(["| key | holds | default | |", "|---|---|---|---|", *rows]) + "\n"


def _own(kind: str) -> Mapping[str, Setting]:
    every: Mapping[str, Mapping[str, Setting]] = {str(k): v for k, v in SETTINGS.items()}
    return {key: setting for key, setting in every[kind].items() if key not in COMMON}


def _row(key: str, setting: Setting) -> str:
    holds = "one of " + ", ".join(f"`{c}`" for c in setting.choices) if setting.choices else ""
    return f"| `{key}` | {holds or TYPES.get(setting.type, setting.type)} | {_default(setting)} | {setting.help} |"


def _default(setting: Setting) -> str:
    if setting.is_required:
        return "required"
    return "" if setting.default in (None, {}, []) else f"`{_toml(setting.default)}`"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else f"{value}"


def _options_table(api: str) -> str:
    every = {str(name): options for name, options in OPTIONS.items()}
    rows = [
        f"| `{name}` | {option.kind} | {'.'.join(option.path) and '`' + '.'.join(option.path) + '`'} |"
        for name, option in every[api].items()
    ]
    return "\n".join(["| option | holds | becomes |", "|---|---|---|", *rows]) + "\n"


def rendered(page: str) -> str:
    """Return the page with every marked table made anew."""
    return MARKED.sub(lambda match: f"{match[1]}\n{table(match[2])}\n{match[3]}", page)


# The way in of a person, not of a test.
if __name__ == "__main__":  # pragma: no cover
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
