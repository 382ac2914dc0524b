"""The vectors of the terminal protocol, as cases that can be tried over a wire.

Spec: docs/spec/terminal/tools.md, "Vectors". An installed package has them beside this module; a
working copy has them in ``vectors/terminal``, where they are made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from blockwire.errors import LocalProtocolError
from blockwire.jsontext import decode_json

__all__ = ["Case", "choose_cases", "load_cases", "vectors_folder"]

Row: TypeAlias = dict[str, Any]

_PACKAGED: Final = Path(__file__).with_name("vectors")
_WORKING_COPY: Final = Path(__file__).parents[3] / "vectors" / "terminal"
_DEPTH_MAX: Final = 256
UNNAMED: Final = "terminal:vectors:unnamed"
"""Stands for the requirement of rows that name none."""


# What no row can say, see :mod:`blockwire.conform.exchanges`.
EXCHANGES: Final[tuple[Row, ...]] = (
    {
        "exchange": "attributes",
        "name": "a request for attributes is answered in its turn",
        "requirement": "terminal:request:attributes",
    },
    {
        "exchange": "bad frames",
        "name": "nothing is written for what is no frame",
        "requirement": ["terminal:frame:silent", "terminal:security:silent"],
    },
    {
        "exchange": "diagnostics",
        "name": "no answer repeats content, and no message an id",
        "requirement": ["terminal:error:no-content", "terminal:security:echo"],
    },
)


class Case(NamedTuple):
    """One row of a file.

    Attributes:
        file: Name of the file without its ending.
        name: Of the row, unique in the file.
        requirements: Ids of what it proves.
        row: All of it.
    """

    file: str
    name: str
    requirements: tuple[str, ...]
    row: Row


def vectors_folder() -> Path:
    """Return where the vectors are.

    Raises:
        LocalProtocolError: ``file_unreadable``.
    """
    for folder in (_PACKAGED, _WORKING_COPY):
        if folder.is_dir():
            return folder
    raise LocalProtocolError("file_unreadable", f"there are no vectors in {_PACKAGED}")


def load_cases(folder: Path | None = None) -> tuple[Case, ...]:
    """Return every row of every ``*.jsonl`` file, those that are one implementation's habit left out.

    The :data:`EXCHANGES` come behind them.

    Args:
        folder: Where they lie; else those that come with blockwire.

    Raises:
        LocalProtocolError: ``file_unreadable``.
    """
    place = vectors_folder() if folder is None else folder
    cases: list[Case] = []
    for path in sorted(place.glob("*.jsonl")):
        try:
            text = path.read_bytes()
        except OSError as error:
            detail = f"cannot read {path}: {error.strerror}"
            raise LocalProtocolError("file_unreadable", detail) from None
        for line in text.split(b"\n"):
            if line.strip():
                row: Any = decode_json(line, depth_max=_DEPTH_MAX)
                if row.get("normative", True):
                    cases.append(Case(path.stem, row["name"], _requirements(row), row))
    if not cases:
        raise LocalProtocolError("file_unreadable", f"there are no vectors in {place}")
    cases += [Case("exchange", row["name"], _requirements(row), row) for row in EXCHANGES]
    return tuple(cases)


def choose_cases(cases: Iterable[Case], requirements: Collection[str]) -> tuple[Case, ...]:
    """Return the cases of some requirements, as cases of these alone; all of them for none."""
    if not requirements:
        return tuple(cases)
    return tuple(
        case._replace(requirements=named)
        for case in cases
        if (named := tuple(name for name in case.requirements if name in requirements))
    )


def _requirements(row: Row) -> tuple[str, ...]:
    named = row.get("requirement", UNNAMED)
    return (named,) if isinstance(named, str) else tuple(named)
