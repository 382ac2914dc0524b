"""Every situation of part A, and of frames, has a test, and every test a situation."""

import re
from pathlib import Path

from tests.support.cases import all_cases

TESTS = Path(__file__).parents[1]
MARK = re.compile(r"^@(?:pytest\.mark\.)?case\(\"([A-Z][0-9]{2})\"\)$", re.MULTILINE)

# Of part B, what frames alone decide; the others need a terminal that shows Blocks.
FRAMES = frozenset({"T05", "T12"})


def test_every_situation_has_a_test() -> None:
    marked = {
        found
        for path in TESTS.rglob("test_*.py")
        for found in MARK.findall(path.read_text(encoding="utf-8"))
    }

    wanted = {name for name, found in all_cases().items() if "A" in found["part"]} | FRAMES

    assert wanted - marked == set(), "situations without a test"
    assert marked - set(all_cases()) == set(), "tests of no situation"
