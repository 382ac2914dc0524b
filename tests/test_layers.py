"""The house rules that import-linter reads from ``pyproject.toml`` are whole, and they hold."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import blockwire.content
from tests.coverage_rooms import ROOMS as COVERED_ROOMS
from tests.suites import PROJECT

SOURCE: Final = PROJECT / "src" / "blockwire"
# The layers whose rooms do no I/O are these, counted from the bottom.
LAYERS_BELOW_THE_LINE: Final = 5


def import_linter() -> dict[str, Any]:
    tools = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    contracts = {contract["id"]: contract for contract in tools["importlinter"]["contracts"]}
    assert len(contracts) == len(tools["importlinter"]["contracts"])
    return contracts


def layers() -> list[set[str]]:
    return [set(re.findall(r"\w+", layer)) for layer in import_linter()["layers"]["layers"]]


def existing_rooms() -> set[str]:
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    return packages | modules


def rooms_below_the_line() -> set[str]:
    return set().union(*layers()[-LAYERS_BELOW_THE_LINE:]) & existing_rooms()


def test_every_room_below_the_line_is_kept_from_io() -> None:
    named = {
        module.removeprefix("blockwire.") for module in import_linter()["sans-io"]["source_modules"]
    }

    assert named == rooms_below_the_line()


def test_every_room_below_the_line_is_covered_by_its_own_tests() -> None:
    assert set(COVERED_ROOMS) == rooms_below_the_line()


def test_the_contracts_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]

    ended = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, encoding="utf-8", check=False
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr


def names_from_content(path: Path) -> Iterator[str]:
    """Yield the names that one module imports from the front door of ``content``."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "blockwire.content":
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "render").rglob("*.py")), ids=lambda path: path.stem
)
def test_a_renderer_takes_no_event_through_the_front_door_of_content(path: Path) -> None:
    event_names = {
        name
        for name in blockwire.content.__all__
        if getattr(getattr(blockwire.content, name), "__module__", "") == "blockwire.content.events"
    }

    assert event_names, "content exports its events"
    assert not event_names & set(names_from_content(path))


def private_names(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("blockwire"):
            own_room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
            other_room = (node.module or "").split(".")[1:2] != [own_room]
            parts = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            if other_room:
                yield from (
                    part for part in parts if part.startswith("_") and not part.endswith("__")
                )


@pytest.mark.parametrize("room", sorted(existing_rooms()))
def test_no_room_imports_a_private_name_of_another(room: str) -> None:
    folder = SOURCE / room
    paths = sorted(folder.rglob("*.py")) if folder.is_dir() else [SOURCE / f"{room}.py"]

    assert {str(path): names for path in paths if (names := list(private_names(path)))} == {}
