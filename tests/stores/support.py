"""What several modules of these tests need."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from blockwire.stores.sqlite.queries import MIGRATIONS, split_statements
from blockwire.stores.sqlite.schema import APPLICATION_ID
from tests.suites import PROJECT


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A plain connection, for looking at a store or damaging it."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def change(path: Path, statement: str, *parameters: Any) -> None:
    with opened(path) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(statement, parameters)


def values_for(statement: str) -> Any:
    """Return something for each parameter of a statement, so that it can be compiled."""
    names = re.findall(r":([a-z_]+)", statement)
    return dict.fromkeys(names, 1) if names else (1,) * statement.count("?")


def run_script(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a Python script in a process of its own, to its end."""
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": f"{PROJECT / 'src'}{os.pathsep}{PROJECT}"}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        timeout=15,
        check=False,
    )


def assert_killed(ended: subprocess.CompletedProcess[str]) -> None:
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def first_release(path: Path) -> None:
    """Make a file as the first release made it, with nothing in it."""
    with opened(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for statement in split_statements(MIGRATIONS[0]):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
