"""Every public name was a decision: ``tests/public_api.txt`` lists them all.

To add or drop a name on purpose, run ``make api`` and commit the list with the change.
"""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.suites import PROJECT

PACKAGE: Final = PROJECT / "src" / "blockwire"
LISTED: Final = PROJECT / "tests" / "public_api.txt"


def rooms() -> list[str]:
    """Return the import name of the package and of every room, sorted."""
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    return ["blockwire", *(f"blockwire.{room}" for room in sorted(packages | modules))]


def public_names() -> Iterator[str]:
    for room in rooms():
        yield from (f"{room}.{name}" for name in importlib.import_module(room).__all__)


def test_the_public_names_are_the_listed_ones() -> None:
    listed = LISTED.read_text(encoding="utf-8").splitlines()

    public = sorted(public_names())

    assert public == listed, "run `make api` if the change is meant"


@pytest.mark.parametrize("room", rooms())
def test_every_listed_name_is_there_once_and_is_not_private(room: str) -> None:
    module = importlib.import_module(room)

    names = module.__all__

    assert len(names) == len(set(names))
    assert [name for name in names if name.startswith("_") and name != "__version__"] == []
    assert [name for name in names if not hasattr(module, name)] == []


def write(path: Path = LISTED) -> None:
    path.write_text("".join(f"{name}\n" for name in sorted(public_names())), encoding="utf-8")


def test_the_list_can_be_written_anew(tmp_path: Path) -> None:
    write(tmp_path / "list.txt")

    assert (tmp_path / "list.txt").read_text(encoding="utf-8").splitlines() == sorted(
        public_names()
    )


# The way in of `make api`, not of a test.
if __name__ == "__main__":  # pragma: no cover
    write()
