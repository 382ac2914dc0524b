"""Every MUST of the specification has an id, every id has a test, and every claimed id exists."""

import textwrap
from collections import Counter

import pytest

from tests.spec.requirements import (
    DIVERGENCES,
    Claim,
    ClaimError,
    Statement,
    claimed,
    claims_in,
    stated,
    statements,
)

STATED = {
    requirement_id: statement
    for statement in stated()
    for requirement_id in statement.requirement_ids
}
CLAIMED = {
    requirement_id: claim.place for claim in claimed() for requirement_id in claim.requirement_ids
}


def test_the_specification_states_requirements() -> None:
    assert len(STATED) > 50


def test_every_must_has_an_id() -> None:
    without = [
        f"docs/spec/{it.page}:{it.line}: {it.text}"
        for it in stated()
        if it.must_count > len(it.requirement_ids)
    ]

    assert without == []


def test_every_id_stands_in_one_place() -> None:
    places = Counter(name for statement in stated() for name in statement.requirement_ids)

    assert [name for name, count in places.items() if count > 1] == []


def test_every_requirement_has_a_test() -> None:
    untested = {
        name: f"docs/spec/{statement.page}:{statement.line}"
        for name, statement in STATED.items()
        if name not in CLAIMED
    }

    assert untested == {}


def test_every_claimed_requirement_exists() -> None:
    unknown = {name: place for name, place in CLAIMED.items() if name not in STATED}

    assert unknown == {}


def test_every_known_divergence_is_from_a_requirement() -> None:
    assert DIVERGENCES.keys() <= STATED.keys()


PAGE = """\
# Deltas that MUST be read [content:delta:heading]

A delta MUST name a declared
field. [content:delta:declared-field] It SHALL NOT be empty [content:delta:filled].

- An end MUST come. [content:end:comes]
- See `[content:end:mentioned]` and [a link:here](other.md); it may come late.

| rule | id |
|---|---|
| MUST last | [content:row:lasts] |

```text
MUST in an example [content:not:this]
```
Open blocks MUST be closed; their text MUST stay.
"""


def test_a_page_is_read_as_statements_with_their_ids() -> None:
    found = [(it.line, it.requirement_ids, it.must_count) for it in statements("page.md", PAGE)]

    assert found == [
        (1, ["content:delta:heading"], 1),
        (3, ["content:delta:declared-field", "content:delta:filled"], 2),
        (6, ["content:end:comes"], 1),
        (7, [], 0),
        (9, [], 0),
        (10, [], 0),
        (11, ["content:row:lasts"], 1),
        (16, [], 2),
    ]


def test_a_statement_without_an_id_says_where_it_stands() -> None:
    assert list(statements("a/page.md", "\n\nIt MUST\nhold.\n")) == [
        Statement("a/page.md", 3, "It MUST hold.")
    ]


MODULE = """\
import pytest

pytestmark = pytest.mark.requirement("a:b")

@pytest.mark.requirement("a:c", "a:d")
def test_it() -> None: ...

@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("a:e"))])
async def test_that(x: int) -> None: ...
"""


def test_claims_are_found_wherever_a_mark_may_stand() -> None:
    found = set(claims_in(MODULE, "test_x.py"))

    assert found == {
        Claim(("a:b",), "test_x.py:3"),
        Claim(("a:c", "a:d"), "test_x.py:5"),
        Claim(("a:e",), "test_x.py:8"),
    }


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("@pytest.mark.requirement(NAME)\ndef test_x(): ...", "plain string"),
        ("@pytest.mark.requirement(1)\ndef test_x(): ...", "plain string"),
        ("@pytest.mark.requirement()\ndef test_x(): ...", "needs an id"),
        ("@pytest.mark.requirement('a:b')\ndef helper(): ...", "helper is no test"),
    ],
)
def test_a_claim_that_proves_nothing_is_refused(source: str, complaint: str) -> None:
    with pytest.raises(ClaimError, match=complaint):
        list(claims_in(textwrap.dedent(source), "test_x.py"))
