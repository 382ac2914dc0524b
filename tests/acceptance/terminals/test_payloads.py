"""No payload of the public suite acts through the chat, be it in a terminal of today or in our host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.acceptance.terminals.oracle import check_chat, check_host, check_transcript
from tests.acceptance.terminals.outer import Outer, chat, term
from tests.support.payloads import CASES, lines_of, mark
from tests.support.programs import Gateway, call, environment

pytestmark = [pytest.mark.timeout(180), pytest.mark.slow]

COLUMNS: Final = 200


class Stage(NamedTuple):
    """A gateway with a conversation whose only turn is an outside producer's."""

    folder: Path
    gateway: Gateway
    conversation_id: str

    def post(self) -> None:
        """Let the producer say everything."""
        base = f"/v1/conversations/{self.conversation_id}"
        turn_id = call(self.gateway.url, base)["running_turn_id"]
        events = f"{base}/turns/{turn_id}/events"
        acks = call(self.gateway.url, events, method="POST", body=lines_of(turn_id))
        assert "error" not in acks[-1], acks[-1]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Gateway(environment(tmp_path), "--engine", "external") as gateway:
        made = call(gateway.url, "/v1/conversations", method="POST", body={})
        yield Stage(tmp_path, gateway, made["id"])


def bare(text: str) -> str:
    """Return what of a text every terminal keeps, wherever its rows are broken."""
    return "".join(it for it in text if it.isprintable() and not it.isspace() and it != "\u200d")


def check_kept(lines: list[str]) -> None:
    """Demand that every payload's text is there, each between its mark and the next, once."""
    parts = re.split(r"CASE\d{4}\.", "\n".join(lines))[1:]
    assert len(parts) == len(CASES)
    for case, part in zip(CASES, parts, strict=True):
        for kept in case["must_keep"]:
            assert bare(kept) in bare(part), case["id"]


@pytest.mark.case("T01")
@pytest.mark.situation("T71")
@pytest.mark.parametrize("where", ["in a terminal", "in the host"])
def test_t71_no_payload_acts_through_the_chat(stage: Stage, where: str) -> None:
    """vercel/ai#20052: what a model or a tool said reached the terminal as it was."""
    command = chat("-c", stage.conversation_id, "--reasoning")
    if where == "in the host":
        command = term(*command)
    env = environment(stage.folder)
    with Outer(command, env=env, columns=COLUMNS, rows=40) as outer:
        outer.until_shown("Ask something")
        outer.keys("hello\r")
        base = f"/v1/conversations/{stage.conversation_id}"
        outer.until(lambda: "running_turn_id" in call(stage.gateway.url, base))
        stage.post()
        outer.until(
            lambda: (
                mark(len(CASES) - 1) in outer.screen_text() + "\n".join(outer.main_lines()[-90:])
            )
        )
        outer.until(lambda: outer.rest(0.5) == 0)
        outer.keys("ctrl-d")

        assert outer.exit_status() == 0
        if where == "in the host":
            check_host(outer.output)
            check_transcript(outer.output)
        else:
            check_chat(outer.output)
        check_kept(outer.transcript())
