"""Many rows in few statements.

Spec: docs/spec/gateway/persistence.md. Lives in the writer's thread. Each step of a statement hands
the interpreter to other threads and has to get it back from them, which under load takes longer
than the step; ``executemany`` takes one for every row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from blockwire.stores.sqlite.queries import SQL

__all__ = ["advance_turns", "insert_log"]

# Rows that one statement takes, the largest first; each count has a statement of its own.
_COUNTS: Final = (32, 8, 2, 1)

# As in advance_turn, for several rows (UPDATE ... FROM came with SQLite 3.33).
_ADVANCE: Final = """
WITH advanced (last_seq, producer_seq, conversation_no, id) AS (VALUES {rows})
UPDATE turns SET last_seq = advanced.last_seq, producer_seq = advanced.producer_seq
FROM advanced
WHERE turns.conversation_no = advanced.conversation_no AND turns.id = advanced.id
"""


def _repeated(row: str, count: int) -> str:
    return ", ".join([row] * count)


_INSERTS: Final[Mapping[int, str]] = MappingProxyType(
    {
        count: SQL["insert_log"].rstrip(";") + ", (?, ?, ?, ?, ?, ?, ?)" * (count - 1)
        for count in _COUNTS
    }
)
_ADVANCES: Final[Mapping[int, str]] = MappingProxyType(
    {
        count: SQL["advance_turn"]
        if count == 1
        else _ADVANCE.format(rows=_repeated("(?, ?, ?, ?)", count))
        for count in _COUNTS
    }
)


def insert_log(connection: sqlite3.Connection, rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows of the log, each as ``insert_log`` wants it."""
    _execute(connection, _INSERTS, rows)


def advance_turns(connection: sqlite3.Connection, rows: Sequence[Sequence[Any]]) -> None:
    """Change the numbers of turns, each row as ``advance_turn`` wants it."""
    _execute(connection, _ADVANCES, rows)


def _execute(
    connection: sqlite3.Connection, statements: Mapping[int, str], rows: Sequence[Sequence[Any]]
) -> None:
    start = 0
    for count, statement in statements.items():
        while len(rows) - start >= count:
            values = list(chain.from_iterable(rows[start : start + count]))
            connection.execute(statement, values)
            start += count
