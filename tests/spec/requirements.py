"""Which requirements the specification states, and which tests claim to prove them.

A page in ``docs/spec`` writes an id beside every sentence with a MUST in it::

    A delta MUST name a declared field of its block. [content:delta:declared-field]

and a test says what it proves::

    @pytest.mark.requirement("content:delta:declared-field")
    def test_a_delta_for_an_undeclared_field_is_refused() -> None: ...

Both are read from the text, without running anything, so that one test can compare them whatever
part of the suite runs. An id in code marks or in a code block only mentions a requirement.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.suites import PROJECT

PAGES: Final = PROJECT / "docs" / "spec"
TESTS: Final = PROJECT / "tests"

# Requirements that we knowingly do not meet: id -> what happens instead, and where it was decided.
# The test that pins what happens carries the id as well.
DIVERGENCES: Final[MappingProxyType[str, str]] = MappingProxyType({})

_ID: Final = re.compile(r"\[([a-z0-9-]+(?::[a-z0-9-]+){1,3})\](?!\()")
_MUST: Final = re.compile(r"\b(?:MUST|SHALL)\b")
_CODE: Final = re.compile(r"(`+)(?:.*?)\1", re.DOTALL)
_FENCE: Final = re.compile(r"^ *(```|~~~|:::)")
# What starts a statement of its own: an item of a list, a row of a table, a heading.
_STATEMENT_START: Final = re.compile(r"^ *(?:[-*+] |\d+[.)] |\||#)")
# A sentence ends at its mark, or where the id behind the mark ends.
_SENTENCE_END: Final = re.compile(r"(?<=[.;!?])\s+|(?<=\])\s+(?=[A-Z`])|\n")


@dataclass(frozen=True, slots=True)
class Statement:
    """A paragraph, list item or table row of a page.

    Attributes:
        page: File name, relative to ``docs/spec``.
        line: Where it starts, counted from one.
        text: Its lines without code, joined by blanks.
    """

    page: str
    line: int
    text: str

    @property
    def requirement_ids(self) -> list[str]:
        """The ids written in it, in order."""
        return _ID.findall(self.text)

    @property
    def must_count(self) -> int:
        """How many of its sentences demand something."""
        return sum(bool(_MUST.search(part)) for part in _SENTENCE_END.split(self.text))


def statements(page: str, text: str) -> Iterator[Statement]:
    """Yield the statements of one page, code blocks left out."""
    lines: list[str] = []
    start, fenced = 1, False
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        fence = bool(_FENCE.match(line))
        begins = bool(_STATEMENT_START.match(line))
        if fence or fenced or begins or not line.strip():
            if lines:
                yield Statement(page, start, _CODE.sub("", " ".join(lines)))
            lines = []
        fenced ^= fence
        if not (fence or fenced) and line.strip():
            start = start if lines else number
            lines.append(line.strip())


def stated(folder: Path = PAGES) -> list[Statement]:
    """Return every statement of every page of the specification, in the order of the pages."""
    return [
        statement
        for path in sorted(folder.rglob("*.md"))
        for statement in statements(
            path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")
        )
    ]


class ClaimError(Exception):
    """A mark that proves nothing, because of how it is written."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One ``pytest.mark.requirement(...)``: the ids it names, and where it is written."""

    requirement_ids: tuple[str, ...]
    place: str


def claims_in(source: str, place: str) -> Iterator[Claim]:
    """Yield the claims in the text of one test module.

    Raises:
        ClaimError: If an id is not a plain string, which nobody could find by searching, or if the
            mark is on a function that pytest does not collect.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_requirement(node.func):
            yield Claim(tuple(_literal_ids(node, place)), f"{place}:{node.lineno}")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            marked = any(
                isinstance(mark, ast.Call) and _is_requirement(mark.func)
                for mark in node.decorator_list
            )
            if marked and not node.name.lower().startswith("test"):
                raise ClaimError(f"{place}:{node.lineno}: {node.name} is no test")


def _is_requirement(function: ast.expr) -> bool:
    return ast.unparse(function) in {"pytest.mark.requirement", "mark.requirement"}


def _literal_ids(call: ast.Call, place: str) -> Iterator[str]:
    if not call.args or call.keywords:
        raise ClaimError(f"{place}:{call.lineno}: the mark needs an id")
    for argument in call.args:
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            raise ClaimError(f"{place}:{call.lineno}: write the id as a plain string")
        yield argument.value


def claimed(folder: Path = TESTS) -> list[Claim]:
    """Return every claim of every test module."""
    return [
        claim
        for path in sorted(folder.rglob("test_*.py"))
        for claim in claims_in(
            path.read_text(encoding="utf-8"), path.relative_to(folder).as_posix()
        )
    ]
