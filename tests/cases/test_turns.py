"""Turns and their providers: keys that repeat, ends without a reason."""

from __future__ import annotations

from typing import Any

import pytest

from blockwire.errors import RemoteProtocolError
from blockwire.stores import MemoryStore
from tests.gateway.core.world import CountingIds, ScriptEngine, answering, gateway
from tests.providers.compare import decode, outcome_of, texts
from tests.providers.wire import chat, sse
from tests.support.cases import case

pytestmark = pytest.mark.anyio


@case("O09")
async def test_a_counter_that_begins_anew_gets_no_old_answer() -> None:
    store = MemoryStore()
    async with gateway(store=store) as world:
        name = await world.conversation()
        await world.ask(name, "first", key="s:1")
    engine = ScriptEngine(answering("second answer"))
    ids = CountingIds(start=100)
    async with gateway(store=store, engines={"script": engine}, ids=ids) as world:
        # The client's counter begins at 1 again; its question is another one.
        with pytest.raises(RemoteProtocolError) as refused:
            await world.submit(name, "second", key="s:1")
        assert refused.value.code == "idempotency_key_reused"
        assert engine.requests == []

        turn: dict[str, Any] = await world.ask(name, "second", key="s:2")

        assert len(engine.requests) == 1
        assert turn["message"]["content"][0]["markdown"] == "second answer"


@case("S08")
@pytest.mark.parametrize(
    ("finish", "done", "outcome"),
    [
        (None, True, "completed"),
        ("stop", False, "completed"),
        ("stop", True, "completed"),
        (None, False, "truncated"),
    ],
)
def test_an_answer_is_whole_with_a_reason_or_with_the_last_word(
    finish: str | None, done: bool, outcome: str
) -> None:
    chunks = [chat({"content": "whole"}), chat({}, finish)]

    decoded = decode("openai-chat", [sse(*chunks, done=done)])

    assert texts(decoded)[0] == ("prose", "whole")
    assert outcome_of(decoded) == outcome
