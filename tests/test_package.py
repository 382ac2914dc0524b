"""The package itself: what it is called and how it is started."""

import runpy
import sys
from importlib.metadata import version

import pytest

import blockwire


def test_the_version_in_the_code_is_the_one_of_the_distribution() -> None:
    assert version("blockwire") == blockwire.__version__


def test_the_package_runs_as_a_module(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["blockwire", "--version"])

    with pytest.raises(SystemExit) as exited:
        runpy.run_module("blockwire", run_name="__main__")

    assert not exited.value.code
    assert blockwire.__version__ in capsys.readouterr().out
