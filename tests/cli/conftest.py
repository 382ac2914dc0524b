"""A command line in this process, in a home of its own."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from blockwire.cli import main


class Ended(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, and no variable of the person who runs the tests."""
    for name in list(os.environ):
        if name.startswith("BLOCKWIRE_"):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def blockwire(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run one command line and return how it ended and what it printed."""

    def run(*arguments: str) -> Ended:
        capsysbinary.readouterr()
        status = main(arguments)
        captured = capsysbinary.readouterr()
        return Ended(status, captured.out.decode(), captured.err.decode())

    return run
