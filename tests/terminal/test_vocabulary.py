"""The tables of messages, in the code, in the types and on the page, say the same."""

import re
from typing import Any, Final, get_args

import msgspec
import pytest

from blockwire.terminal import messages
from blockwire.terminal.messages import MESSAGE_TYPES, ToApplication, ToTerminal
from blockwire.terminal.vocabulary import (
    ENVELOPE_FIELDS,
    ERROR_PATHS,
    TO_TERMINAL,
    WIRE_KINDS,
    ControlErrorCode,
    OperationErrorCode,
)
from tests.suites import PROJECT

PAGE: Final = PROJECT / "docs" / "spec" / "terminal" / "messages.md"
IDS: Final = ("request_id", "operation_id", "context_id")


def table(heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading of the page, without its head."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)[0]
    return [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in found.splitlines()[2:]
    ]


def words(literal: Any) -> set[str]:
    """Return the words of a literal, or of a union of them."""
    arguments = get_args(literal)
    return {it for each in arguments for it in (words(each) if get_args(each) else {each})}


@pytest.mark.requirement("terminal:message:closed")
def test_the_page_has_the_table_of_envelopes() -> None:
    assert table("Envelope") == [
        [kind, "application" if kind in TO_TERMINAL else "terminal", *presences]
        for kind, presences in ENVELOPE_FIELDS.items()
    ]


@pytest.mark.requirement("terminal:message:error-paths")
def test_the_page_has_the_table_of_error_codes() -> None:
    words_of = {True: "yes", False: "no"}
    assert table("Error codes by path") == [
        [code, *(words_of[path] for path in paths)] for code, paths in ERROR_PATHS.items()
    ]


def test_the_error_codes_of_a_path_are_those_of_its_type() -> None:
    assert words(ControlErrorCode) == {code for code, (yes, _) in ERROR_PATHS.items() if yes}
    assert words(OperationErrorCode) == {code for code, (_, yes) in ERROR_PATHS.items() if yes}


def test_each_kind_has_its_type_in_the_order_of_the_table() -> None:
    assert [cls.__struct_config__.tag for cls in MESSAGE_TYPES] == [*WIRE_KINDS]
    assert {cls.__struct_config__.tag_field for cls in MESSAGE_TYPES} == {"kind"}


@pytest.mark.parametrize("cls", MESSAGE_TYPES)
def test_a_type_has_the_ids_that_the_table_says(cls: type[msgspec.Struct]) -> None:
    fields = {field.name: field for field in msgspec.structs.fields(cls)}
    presences = dict(zip(IDS, ENVELOPE_FIELDS[cls.__struct_config__.tag], strict=True))  # type: ignore[index]  # a kind

    assert fields.keys() - {"version", "body"} == {
        name for name, presence in presences.items() if presence != "absent"
    }
    optional = {name for name, field in fields.items() if not field.required}
    assert optional == {name for name, presence in presences.items() if presence == "success only"}


def test_a_message_goes_one_way() -> None:
    def kinds(union: Any) -> set[Any]:
        return {cls.__struct_config__.tag for cls in get_args(union)}

    assert kinds(ToTerminal) == TO_TERMINAL
    assert kinds(ToApplication) == set(WIRE_KINDS) - TO_TERMINAL


def test_nothing_but_what_may_be_left_out_has_a_default() -> None:
    types = [it for it in vars(messages).values() if isinstance(it, type)]
    structs = [
        it for it in types if issubclass(it, msgspec.Struct) and it.__module__ == messages.__name__
    ]
    defaults = {
        (cls.__name__, field.name): field.default
        for cls in structs
        for field in msgspec.structs.fields(cls)
        if not field.required and not cls.__name__.endswith("Identity")
    }

    assert defaults == {
        ("ContextOpenResponse", "context_id"): msgspec.UNSET,
        ("ControlFailure", "message"): msgspec.UNSET,
        ("ErrorBody", "message"): msgspec.UNSET,
    }
