"""What the pages of ``docs/reference`` repeat of the code: help texts, settings, routes.

``python -m tests.docs.reference_pages`` writes it anew, and so does nothing else. In a page it stands
between ``<!-- KIND: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import click

from blockwire.cli.main import cli
from blockwire.cli.settings import ENV_PREFIX, SETTINGS
from blockwire.gateway.http.openapi import openapi_document
from blockwire.gateway.operations.metrics import METRICS
from blockwire.gateway.operations.observer import REQUEST_MEMBERS, TURN_MEMBERS
from blockwire.gateway.routes import OPERATIONS
from tests.suites import PROJECT

FOLDER: Final = PROJECT / "docs" / "reference"
PAGES: Final = tuple(
    FOLDER / name for name in ("cli.md", "configuration.md", "http.md", "logs.md", "metrics.md")
)
MARKED: Final = re.compile(
    r"(<!-- (help|settings|routes|log|metrics): ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL
)
COLUMNS: Final = 80
TYPES: Final[Mapping[object, str]] = {str: "text", int: "number", list[str]: "array of texts"}


def commands() -> tuple[str, ...]:
    """Return the names of all commands, the program itself first."""
    return ("blockwire", *cli.list_commands(click.Context(cli)))


def help_text(name: str) -> str:
    """Return what ``blockwire NAME --help`` prints, 80 columns wide."""
    is_program = name == "blockwire"
    program = click.Context(
        cli, info_name="blockwire", terminal_width=COLUMNS, **cli.context_settings
    )
    command = cli if is_program else cli.get_command(program, name)
    assert command is not None, f"no command {name}"
    context = program if is_program else click.Context(command, info_name=name, parent=program)
    return f"```text\n{command.get_help(context)}\n```\n"


def settings_table(_name: str) -> str:
    """Return a row for each setting."""
    return "".join(
        [
            "| key | variable | holds | default | change | |\n|---|---|---|---|---|---|\n",
            *(
                f"| `{name}` | `{ENV_PREFIX}{name.upper()}` | {TYPES[setting.type]} "
                f"| {_default(setting.default)} | {'reload' if setting.is_live else 'restart'} "
                f"| {setting.help} |\n"
                for name, setting in SETTINGS.items()
            ),
        ]
    )


def _default(value: str | int | tuple[str, ...] | None) -> str:
    return "" if value is None or value == () else f"`{value}`"


def routes_table(_name: str) -> str:
    """Return a row for each route of the OpenAPI document."""
    rows = list(_route_rows())
    return "".join(["| route | scope | query | answers | |\n|---|---|---|---|---|\n", *rows])


def _route_rows() -> Iterator[str]:
    scopes = {operation.id: operation.scope or "none" for operation in OPERATIONS}
    document: dict[str, dict[str, dict[str, dict[str, object]]]] = openapi_document(OPERATIONS)  # type: ignore[assignment]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parameters: list[dict[str, str]] = operation.get("parameters", [])  # type: ignore[assignment]
            query = ", ".join(f"`{it['name']}`" for it in parameters if it["in"] == "query")
            statuses = [code for code in operation["responses"] if code < "400"]  # type: ignore[attr-defined]
            yield (
                f"| `{method.upper()} {path}` | {scopes[str(operation['operationId'])]} | {query} "
                f"| {', '.join(statuses)} | {operation['summary']} |\n"
            )


def log_members(name: str) -> str:
    """Return a row for each member of the lines of requests, or of turns."""
    members = REQUEST_MEMBERS if name == "requests" else TURN_MEMBERS
    rows = (f"| `{member}` | {text} |\n" for member, text in members.items())
    return "".join(["| member | |\n|---|---|\n", *rows])


def metrics_table(_name: str) -> str:
    """Return a row for each family of ``/metrics``."""
    rows = (
        f"| `{row.name}` | {row.kind} | {', '.join(f'`{label}`' for label in row.labels)} "
        f"| {row.help} |\n"
        for row in METRICS
    )
    return "".join(["| family | kind | labels | |\n|---|---|---|---|\n", *rows])


MAKERS: Final[Mapping[str, Callable[[str], str]]] = {
    "help": help_text,
    "settings": settings_table,
    "routes": routes_table,
    "log": log_members,
    "metrics": metrics_table,
}


def rendered(page: str) -> str:
    """Return ``page`` with every marked part made anew."""
    return MARKED.sub(lambda it: f"{it[1]}\n{MAKERS[it[2]](it[3])}\n{it[4]}", page)


def write(path: Path) -> None:  # pragma: no cover - the way in of a person, not of a test
    """Make the marked parts of one page anew."""
    path.write_text(rendered(path.read_text(encoding="utf-8")), encoding="utf-8")


# The way in of a person, not of a test.
if __name__ == "__main__":  # pragma: no cover
    for page in PAGES:
        write(page)
