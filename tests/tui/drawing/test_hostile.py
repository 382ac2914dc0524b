"""No text of a conversation, a notice or an input acts on the terminal of the chat."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest

from blockwire.content import Message
from blockwire.render import TerminalLook
from blockwire.render.projector import message_turn
from blockwire.tui.chat import Chat
from blockwire.tui.intents import Notice
from blockwire.tui.views import FallbackView
from tests.render.places import PLACES
from tests.suites import suite_json, suite_path
from tests.tui.drawing.judges import FORBIDDEN
from tests.tui.drawing.shows import EMPTY, finished

PAYLOADS: list[dict[str, Any]] = suite_json("terminal/payloads.json")["cases"]


def _oracle() -> Any:
    spec = importlib.util.spec_from_file_location(
        "check_terminal", suite_path("tools/check_terminal.py")
    )
    assert spec is not None and spec.loader is not None  # noqa: PT018 - one fact
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ORACLE = _oracle()


def acting(data: bytes) -> list[Any]:
    """Return what in ``data`` does more than draw."""
    found, _visible = ORACLE.scan(data.decode(), mode="live", bidi="refuse", allow_cr=True)
    forbidden = FORBIDDEN.search(data)
    return [*found, *([forbidden] if forbidden else [])]


@pytest.mark.requirement("chat:drawing:no-controls")
@pytest.mark.parametrize(("place", "said"), PLACES, ids=[place for place, _said in PLACES])
@pytest.mark.case("T01")
def test_no_payload_in_a_message_acts(place: str, said: Callable[[str], Message]) -> None:
    prompt = Chat(new_key=str).prompt(columns=200, rows_max=3, now_s=0.0)
    for case in PAYLOADS:
        view = FallbackView(TerminalLook(200), 24)
        turn = message_turn(said(case["payload"]))
        view.show(finished(EMPTY, turn), with_reasoning=True)
        data = view.paint(prompt) + view.leave()
        assert not acting(data), (place, case["id"])


@pytest.mark.requirement("chat:drawing:no-controls")
@pytest.mark.case("T01")
def test_no_payload_in_a_notice_or_the_input_acts() -> None:
    for case in PAYLOADS:
        view = FallbackView(TerminalLook(80), 24)
        chat = Chat(new_key=str)
        chat.desk.editor.set_text(case["payload"])
        view.tell(Notice("error", case["payload"]))
        data = view.paint(chat.prompt(columns=80, rows_max=12, now_s=0.0)) + view.leave()
        assert not acting(data), case["id"]
