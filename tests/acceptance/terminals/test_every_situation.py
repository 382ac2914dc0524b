"""Every situation that was collected from public reports about terminal programs has a test."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parents[2]
MARK: Final = re.compile(r"^@pytest\.mark\.situation\(\"(T[0-9]{2})\"\)$", re.MULTILINE)

# Numbers that are missing were other situations of the same kinds.
SITUATIONS: Final = (
    1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29, 31, 32, 34, 35, 37, 38, 40, 41,
    43, 44, 46, 47, 49, 50, 52, 53, 55, 56, 58, 59, 61, 62, 64, 65, 67, 68, 70, 71,
)  # fmt: skip


def test_every_situation_has_a_test() -> None:
    marked = {
        found
        for path in TESTS.rglob("test_*.py")
        for found in MARK.findall(path.read_text(encoding="utf-8"))
    }
    wanted = {f"T{number:02}" for number in SITUATIONS}

    assert len(wanted) == 48
    assert wanted - marked == set(), "situations without a test"
    assert marked - wanted == set(), "tests of no situation"
