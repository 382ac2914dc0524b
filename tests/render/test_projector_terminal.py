"""A projector, an application and a terminal: what is projected is what the terminal has."""

from __future__ import annotations

from typing import Any, cast

import pytest

from blockwire.render.blockoperations import (
    AppendBlock,
    BlockOperation,
    ExtendBlock,
    ReplaceSuffix,
    SealBlock,
    UpdateBlock,
)
from blockwire.render.projector import TerminalProjector
from blockwire.terminal import BlockHandle, ContextHandle
from tests.render.blocks import TYPES, project_all
from tests.render.showcase import SHOWCASE
from tests.render.turns import block, grown
from tests.terminal.plays import Play


def perform(
    operation: BlockOperation, context: ContextHandle, handles: dict[str, BlockHandle]
) -> None:
    """Do what an operation says, as a driver would."""
    match operation:
        case AppendBlock(name=name, type=kind, data=data):
            handles[name] = context.append(data, type=kind, block_id=name)
        case ExtendBlock(name=name, fragment=fragment):
            handles[name].extend(fragment)
        case ReplaceSuffix(name=name, retain=retain, replacement=replacement):
            handles[name].replace_suffix(retain, replacement)
        case UpdateBlock(name=name, data=data):
            handles[name].update(data)
        case SealBlock(name=name):
            handles[name].seal()


@pytest.mark.requirement("render:projector:last-state")
@pytest.mark.parametrize("types", TYPES, ids=["lines", "styled", "plain"])
@pytest.mark.parametrize("name", ["prose", "tables"])
def test_a_terminal_has_what_was_projected(name: str, types: tuple[str, ...]) -> None:
    blocks = [block("reasoning", text="so far\n\nand on")]
    for message in SHOWCASE[name]:
        blocks += cast("list[dict[str, Any]]", message["content"])
    states = list(grown(blocks, pieces=7))
    states.append(states[-1].with_status("completed"))
    play = Play(types=types)
    context = play.begin()
    handles: dict[str, BlockHandle] = {}
    projector = TerminalProjector("m", types, with_reasoning=True)

    for number, state in enumerate(states):
        for operation in projector.project(state):
            perform(operation, context, handles)
        if number % 5 == 0:
            play.exchange()
    play.exchange()

    at_once = project_all(states[-1:], types)
    assert play.texts(context) == at_once.texts()
    shown = play.shown(context)
    assert [it.content and it.content.data() for it in shown] == at_once.shown()
    assert {it.lifecycle for it in shown} == {"sealed"}
