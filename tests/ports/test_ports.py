"""The ports hold protocols and values, and every port can be met by a class that knows none of it."""

import inspect
import typing
from typing import Any

import msgspec
import pytest

import blockwire.ports
from blockwire.ports import (
    Append,
    Bus,
    Clock,
    Committed,
    ControlNotice,
    ConversationRow,
    Draft,
    Engine,
    EngineRequest,
    Entry,
    FaultPoint,
    Faults,
    FramePage,
    IdFactory,
    Store,
    TurnRow,
)

PROTOCOLS: list[type[Any]] = [Bus, Clock, Engine, Faults, IdFactory, Store]
VALUES = [
    value
    for name in blockwire.ports.__all__
    if inspect.isclass(value := getattr(blockwire.ports, name))
    and issubclass(value, msgspec.Struct)
]

# What returns at once may be called from anywhere; everything else is awaited or iterated.
AT_ONCE = {
    "Bus.publish",
    "Bus.subscribe",
    "Clock.monotonic_s",
    "Clock.now_ms",
    "Engine.run",
    "Faults.reach",
    "IdFactory.new_id",
}


def methods(port: type[Any]) -> dict[str, Any]:
    return {
        f"{port.__name__}.{name}": method
        for name, method in vars(port).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }


@pytest.mark.parametrize("port", PROTOCOLS)
def test_a_port_is_a_protocol_that_says_of_each_method_what_comes_back(port: type[Any]) -> None:
    assert getattr(port, "_is_protocol", False)
    for name, method in methods(port).items():
        assert inspect.getdoc(method), name
        assert "return" in inspect.get_annotations(method), name


def test_only_what_returns_at_once_is_not_awaited() -> None:
    plain = {
        name
        for port in PROTOCOLS
        for name, method in methods(port).items()
        if not inspect.iscoroutinefunction(method)
    }

    assert plain == AT_ONCE


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.__name__)
def test_what_crosses_a_port_cannot_be_changed_on_the_way(value: type[msgspec.Struct]) -> None:
    assert value.__struct_config__.frozen


def test_fault_points_come_in_pairs_around_each_step() -> None:
    points = typing.get_args(FaultPoint)

    steps = ["encode", "commit", "publish", "acknowledge", "migrate", "compact"]
    assert list(points) == [f"{step}.{when}" for step in steps for when in ("before", "after")]


def test_a_request_is_whole_without_what_is_no_part_of_its_json() -> None:
    request = EngineRequest(
        conversation_id="conv_1", turn_id="turn_1", engine="mine", messages=[], options={}
    )

    assert msgspec.to_builtins(request) == {
        "protocol": 1,
        "conversation_id": "conv_1",
        "turn_id": "turn_1",
        "engine": "mine",
        "messages": [],
        "options": {},
        "model": None,
        "system": None,
        "answers": None,
        "files": None,
    }


def test_a_new_row_starts_at_the_beginning_of_its_log() -> None:
    conversation = ConversationRow(id="conv_1", created_at=5, updated_at=5)
    turn = TurnRow(
        id="turn_1",
        conversation_id="conv_1",
        status="running",
        engine="mine",
        created_at=5,
        request_message_id="msg_1",
    )

    assert (conversation.head_seq, turn.first_seq, turn.last_seq) == (0, 0, 0)
    assert (turn.epoch, turn.producer_seq) == (1, 0)


def test_an_append_changes_nothing_that_it_does_not_name() -> None:
    draft = Draft("content.block.delta", b'{"text":"a"}', None)

    change = Append(conversation_id="conv_1", drafts=[draft], ts=5)

    assert change.turn is None
    assert not change.new_turn
    assert (list(change.finished), change.expected_epoch) == ([], None)


def test_values_with_the_same_members_are_equal() -> None:
    entry = Entry(1, "turn.started", b"id: 1\n\n", None)

    assert Committed("conv_1", (entry,)) == Committed("conv_1", (entry,))
    assert ControlNotice("conv_1", "cancel") == ControlNotice("conv_1", "cancel", b"")
    assert FramePage(b"", 0, 0, at_end=True) != FramePage(b"", 0, 0, at_end=False)
