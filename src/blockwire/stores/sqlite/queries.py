"""The statements of ``queries*.sql`` by name, and the migrations by number."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Final

__all__ = ["MIGRATIONS", "SQL", "split_statements"]

_NAME: Final = re.compile(r"^-- ([a-z_]+) --$", re.MULTILINE)
_MIGRATION: Final = re.compile(r"([0-9]{4})_[a-z_]+\.sql")
_FOLDER: Final = files("blockwire.stores.sqlite")


def _load_queries() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for entry in sorted(_FOLDER.iterdir(), key=lambda entry: entry.name):
        if not entry.name.endswith(".sql"):
            continue
        _preamble, *parts = _NAME.split(entry.read_text("utf-8"))
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            assert name not in found, "a query's name is given once"
            found[name] = text.strip()
    return MappingProxyType(found)


def _load_migrations() -> tuple[str, ...]:
    found = sorted(
        (int(match[1]), entry.read_text("utf-8"))
        for entry in _FOLDER.joinpath("migrations").iterdir()
        if (match := _MIGRATION.fullmatch(entry.name))
    )
    assert [number for number, _ in found] == list(range(1, len(found) + 1)), "no gap"
    return tuple(text for _, text in found)


def split_statements(script: str) -> Iterator[str]:
    """Yield the statements of a script one by one, comments included.

    ``executescript`` would commit the transaction that a migration runs in.
    """
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


SQL: Final[Mapping[str, str]] = _load_queries()
"""Statements by name."""

MIGRATIONS: Final[tuple[str, ...]] = _load_migrations()
"""Scripts in order; the first makes schema version 1."""
