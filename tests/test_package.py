"""The package itself: what it is called and how it is started."""

import ast
import runpy
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import blockwire
import blockwire.client


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


def test_the_front_door_leads_to_the_client() -> None:
    assert blockwire.Client is blockwire.client.Client
    assert blockwire.AsyncClient is blockwire.client.AsyncClient
    assert issubclass(blockwire.ClientError, blockwire.BlockwireError)
    assert set(blockwire.__all__) <= set(dir(blockwire))


def test_a_name_that_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Klient'"):
        getattr(blockwire, "Klient")  # noqa: B009 - mypy knows that it is not there


def test_type_checkers_are_told_of_the_same_names() -> None:
    stub = ast.parse(Path(blockwire.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))

    (listed,) = [node.value for node in stub.body if isinstance(node, ast.Assign)]

    assert ast.literal_eval(listed) == sorted(blockwire.__all__)


def test_the_package_alone_imports_none_of_its_rooms() -> None:
    code = "import sys, blockwire; print([name for name in sys.modules if 'blockwire.' in name])"

    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )

    assert ended.stdout.strip() == "[]"


@pytest.mark.parametrize("module", ["strategies", "scripts"])
def test_strategies_without_hypothesis_say_what_to_install(module: str) -> None:
    code = f"import sys; sys.modules['hypothesis'] = None; import blockwire.testing.{module}"

    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=False
    )

    assert ended.returncode == 1
    assert "pip install 'blockwire[testing]'" in ended.stderr
