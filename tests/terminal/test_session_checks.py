"""One order of checks, in the code and on its page, for every set of faults that one operation can have."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final, get_args

import pytest

from blockwire.terminal import (
    FAILURES,
    PRECONDITIONS,
    SENTENCES,
    Limits,
    Operation,
    Precondition,
    WireMessage,
)
from blockwire.terminal.content import Span
from blockwire.terminal.vocabulary import (
    ERROR_PATHS,
    OPERATION_KINDS,
    PLAIN,
    STYLED,
    OperationKind,
)
from tests.suites import PROJECT
from tests.terminal.sessions import World, append, extend, plain, replace_suffix, seal, update

PAGES: Final = PROJECT / "docs" / "spec" / "terminal"

# Written out once more, since the table under test is no judge of itself.
ORDER: Final[tuple[Precondition, ...]] = (
    "context open", "ids left", "operation new", "block new", "block found", "block mutable",
    "block retained", "type available", "base current", "shape", "boundary", "resources",
)  # fmt: skip

BYTES_MAX: Final = 8
LONG: Final = "a text that is too long"

# A Block that is not there is neither sealed nor trimmed, has no state and no length.
NEEDS_A_BLOCK: Final = {"block mutable", "block retained", "base current", "shape", "boundary"}


def rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, code marks dropped."""
    _, _, section = (PAGES / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    table = section[section.index("\n|") :].lstrip().split("\n\n")[0].splitlines()
    return [
        [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        for line in [table[0], *table[2:]]
    ]


def fault_sets(kind: OperationKind) -> Iterator[frozenset[Precondition]]:
    """Yield every set of faults that an operation of this kind can have at once."""
    possible = PRECONDITIONS[kind]
    for size in range(len(possible) + 1):
        for faults in combinations(possible, size):
            if "block found" in faults and (NEEDS_A_BLOCK & set(faults)) and kind != "block.update":
                continue
            if "block found" in faults and {"block mutable", "block retained"} & set(faults):
                continue
            yield frozenset(faults)


def world_with(faults: frozenset[Precondition]) -> World:
    """Return a world in which each kind of fault is at hand."""
    ids_max = 6 if "ids left" in faults else 100
    world = World(
        optional_content_types=(STYLED,),
        limits=Limits(operation_ids_max=ids_max, block_bytes_max=BYTES_MAX),
    )
    world.do(
        append("good", "abc", block_id="good"),
        append("sealed", "abc", block_id="sealed", lifecycle="sealed"),
        append("trimmed", "abc", block_id="trimmed"),
        append("both", "abc", block_id="both", lifecycle="sealed"),
        append("changed", "abc", block_id="changed"),
        update("used", "abc", block_id="changed"),
    )
    world.session.evict("c1", "trimmed")
    world.session.evict("c1", "both")
    return world


def faulty(kind: OperationKind, faults: frozenset[Precondition]) -> Operation:
    """Return an operation with exactly these faults."""
    sealed, trimmed = "block mutable" in faults, "block retained" in faults
    block_id = {
        (False, False): "good", (True, False): "sealed", (False, True): "trimmed",
        (True, True): "both",
    }[sealed, trimmed]  # fmt: skip
    if "block found" in faults or (kind == "block.append" and "block new" not in faults):
        block_id = "none"
    where: Any = {
        "block_id": block_id,
        "context_id": "nowhere" if "context open" in faults else "c1",
    }
    operation_id = "used" if "operation new" in faults else "new"
    base = "never" if "base current" in faults else block_id
    text = LONG if "resources" in faults else "x"
    data: Any = (Span(text=text),) if "shape" in faults else text
    # Data is looked at by its type; one that does not fit is a span list for a text.
    type_name = "text/none" if "type available" in faults else PLAIN
    match kind:
        case "block.append":
            return append(operation_id, data, type_name=type_name, **where)
        case "block.update":
            return update(operation_id, data, type_name=type_name, **where)
        case "block.extend":
            return extend(operation_id, base, data, **where)
        case "block.replace_suffix":
            retain = 99 if "boundary" in faults else 2
            return replace_suffix(operation_id, base, retain, data, **where)
        case "block.seal":
            return seal(operation_id, **where)


@pytest.mark.requirement("terminal:error:check-order", "terminal:operation:base")
@pytest.mark.parametrize("kind", OPERATION_KINDS)
def test_the_first_fault_in_the_order_is_reported_and_nothing_changes(kind: OperationKind) -> None:
    count = 0
    for faults in fault_sets(kind):
        world = world_with(faults)
        before = world.state()

        found = world.code(faulty(kind, faults))

        first = next((name for name in ORDER if name in faults), None)
        assert found == (first and FAILURES[first]), f"{sorted(faults)}"
        assert (world.state() == before) == bool(faults), f"{sorted(faults)}"
        count += 1
    assert count > len(PRECONDITIONS[kind])


@pytest.mark.requirement("terminal:operation:atomic")
@pytest.mark.parametrize("kind", OPERATION_KINDS)
def test_the_table_of_checks_is_the_one_of_its_page(kind: OperationKind) -> None:
    head, *body = rows("errors.md", "Order of the checks")

    column = head.index(kind)
    assert tuple(row[0] for row in body) == ORDER == get_args(Precondition)
    assert tuple(row[0] for row in body if row[column] == "yes") == PRECONDITIONS[kind]
    assert {row[0]: row[-1] for row in body} == FAILURES


def test_the_codes_are_those_of_their_page() -> None:
    _, *body = rows("errors.md", "Codes")

    assert {row[0]: (row[1] == "yes", row[2] == "yes") for row in body} == ERROR_PATHS
    assert SENTENCES.keys() == ERROR_PATHS.keys()


@pytest.mark.requirement("terminal:error:type-first")
@pytest.mark.parametrize("data", ["x", (), None, 1, [{"text": 1}], {"a": []}])
def test_data_of_a_type_that_is_not_on_offer_is_not_looked_at(data: Any) -> None:
    world = World(optional_content_types=())
    world.do(append("1"))

    assert world.codes(
        append("2", data, type_name=STYLED, block_id="b"), update("3", data, type_name="text/none")
    ) == ["unsupported_content_type"] * 2  # fmt: skip


@pytest.mark.requirement("terminal:error:shape")
def test_a_fragment_of_another_shape_than_the_block_has_is_invalid_content() -> None:
    world = World()
    spans = (Span(text="x"),)
    world.do(append("1"), append("2", spans, block_id="s", type_name=STYLED))

    assert world.codes(
        extend("3", "1", spans), replace_suffix("4", "1", 0, spans),
        extend("5", "2", "x", block_id="s"), replace_suffix("6", "2", 0, "x", block_id="s"),
        replace_suffix("7", "1", 0, ()), replace_suffix("8", "2", 0, (), block_id="s"),
    ) == [*["invalid_content"] * 5, None]  # fmt: skip


@pytest.mark.requirement("terminal:error:no-content", "terminal:security:echo")
@pytest.mark.parametrize("kind", OPERATION_KINDS)
def test_an_answer_says_no_word_of_the_application_but_its_ids(kind: OperationKind) -> None:
    faults = frozenset(PRECONDITIONS[kind]) - {"context open", "ids left", "operation new"}
    message: WireMessage = faulty(kind, faults - {"block found", "type available"})

    answer = world_with(frozenset()).answer(message)

    assert answer is not None
    members = plain(answer)
    assert members.keys() == {"version", "kind", "operation_id", "context_id", "body"}
    assert members["body"] == {
        "code": members["body"]["code"], "message": SENTENCES[members["body"]["code"]],
    }  # fmt: skip
