"""Titles of nobody's making, and what the turns of a conversation come to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import Message, TurnEnded
from blockwire.engines.settings import PRICE_NAMES
from blockwire.gateway.settings import EngineProfile
from blockwire.gateway.turns.accounts import PRICED, Accounts, Prices, totals_shape
from blockwire.gateway.turns.titles import TITLE_CHARS_MAX, auto_title
from blockwire.ports import ConversationRow, EngineRequest, TurnRow
from tests.gateway.core.conftest import OpenStore
from tests.gateway.core.world import ScriptEngine, gateway

pytestmark = pytest.mark.anyio


def question(*blocks: Any, role: str = "user") -> Message:
    content = [b if isinstance(b, dict) else {"type": "prose", "markdown": b} for b in blocks]
    return {
        "id": "m",
        "role": role,
        "content": [{"id": f"b{n}", **b} for n, b in enumerate(content)],
    }


TITLES = [
    ("Why is the sky blue?", "Why is the sky blue?"),
    ("\n\n  \nWhy?\nBecause", "Why?"),
    ("# Heading *one*", "Heading one"),
    ("> - 1. **Nested** `code`", "Nested code"),
    ("```python\nprint(1)\n```", "print(1)"),
    ("***\n---\n===\nafter rules", "after rules"),
    ('[a link](https://x.invalid/?q=1) and ![a picture](p.png "t")', "a link and a picture"),
    ("[ref][1] <b>bold</b> <!-- no -->text", "ref bold text"),
    ("snake_case_stays, _emphasis_ goes", "snake_case_stays, emphasis goes"),
    ("2 * 3 is \\*six\\*", "2 * 3 is *six*"),
    ("a\x00b\x1b[31m\u202ec\td", "a b [31m c d"),
    ("e\u0301 \U0001f469\u200d\U0001f4bb", "e\u0301 \U0001f469 \U0001f4bb"),
    ("", None),
    (" \n\t\n", None),
    ("\x00\x1b", None),
    ("x" * 200, "x" * 79 + "…"),
    ("word " * 40, "word " * 15 + "word…"),
    ("# ", None),
    ("-", None),
]


@pytest.mark.parametrize(("text", "title"), TITLES)
@pytest.mark.requirement("gateway:title:plain")
def test_a_title_is_the_first_line_without_markup(text: str, title: str | None) -> None:
    assert auto_title(question(text), lambda text: text) == title


@given(st.text(max_size=300))
@pytest.mark.requirement("gateway:title:plain")
def test_any_text_gives_a_short_title_that_can_be_printed(text: str) -> None:
    title = auto_title(question(text), lambda text: text)

    if title is not None:
        assert 0 < len(title) <= TITLE_CHARS_MAX
        assert title.isprintable()
        assert title == title.strip()


@pytest.mark.requirement("gateway:title:public")
def test_only_what_everybody_may_see_becomes_a_title() -> None:
    private = {"type": "reasoning", "text": "secret plan", "markdown": "secret plan"}
    hidden = {"type": "attachment", "name": "a.png", "media_type": "image/png"}

    assert auto_title(question(private, hidden, "Shown"), lambda text: text) == "Shown"
    assert auto_title(question(private), lambda text: text) is None
    for role in ("system", "developer", "assistant", "tool"):
        assert auto_title(question("Shown", role=role), lambda text: text) is None
    redacted = auto_title(question("key sk-1"), lambda text: text.replace("sk-1", "[redacted]"))
    assert redacted == "key [redacted]"


@pytest.mark.requirement("gateway:title:person")
async def test_the_first_question_gives_a_title_that_a_person_replaces(
    open_store: OpenStore,
) -> None:
    async with gateway(store=open_store()) as world:
        service = world.service
        conversation_id = await world.conversation()
        assert "title" not in await service.read_conversation(conversation_id, None)

        await service.append_message(conversation_id, {"role": "system", "content": "Be"}, None)
        await world.ask(conversation_id, "# First")
        await world.ask(conversation_id, "Second")
        automatic = await service.read_conversation(conversation_id, None)
        mine = await service.update_conversation(conversation_id, {"title": "Mine"}, None)
        await world.ask(conversation_id, "Third")
        kept = await service.read_conversation(conversation_id, None)
        back = await service.update_conversation(conversation_id, {"title": None}, None)

        titles = [shape["title"] for shape in (automatic, mine, kept, back)]
        assert titles == ["First", "Mine", "Mine", "First"]
        named = await world.conversation(title="Named")
        await world.ask(named, "Question")
        listed = await service.list_conversations(cursor=None, limit=9, tenant=None)
        assert [row["title"] for row in listed["items"]] == ["Named", "First"]  # type: ignore[union-attr, index, call-overload]


# totals -----------------------------------------------------------------------------------
def test_prices_are_for_what_is_counted() -> None:
    assert set(PRICED) == set(PRICE_NAMES)


USAGE: dict[str, Any] = {
    "input_tokens": 1_000_000,
    "cached_input_tokens": 400_000,
    "output_tokens": 10_000,
}
COSTS = [
    # prices, model, cached tokens are among the input, cost in billionths
    ({"m": {"input": 2, "output": 10}}, "m", True, 2_100_000_000),
    ({"m": {"input": 2, "output": 10, "cached_input": 0.5}}, "m", True, 1_500_000_000),
    ({"m": {"input": 2, "output": 10, "cached_input": 0.5}}, "m", False, 2_300_000_000),
    ({"*": {"output": 1}}, "other", True, 10_000_000),
    ({"*": {"output": 1}}, None, True, 10_000_000),
    ({"m": {"output": 1}}, "other", True, None),
    ({}, "m", True, None),
]


@pytest.mark.parametrize(("by_model", "model", "among", "cost"), COSTS)
@pytest.mark.requirement("gateway:totals:cost")
def test_a_cost_is_worked_out_from_configured_prices_alone(
    by_model: dict[str, dict[str, float]],
    model: str | None,
    among: bool,
    cost: int | None,
) -> None:
    prices = Prices(by_model=by_model, currency="eur", input_has_cached=among)

    assert prices.cost(model, USAGE) == (None if cost is None else {"eur": cost})
    assert prices.cost(model, None) is None
    assert prices.cost(model, {"input_tokens": "many"}) is None


@pytest.mark.requirement("gateway:totals:sum")
async def test_totals_are_the_sums_over_all_turns_that_ended(open_store: OpenStore) -> None:
    usages: list[dict[str, Any] | None] = [
        {"input_tokens": 10, "output_tokens": 2, "note": "x", "share": 0.5, "flag": True},
        {"input_tokens": 5, "reasoning_tokens": 7},
        None,
    ]

    async def script(request: EngineRequest) -> Any:
        usage = usages[int(str(request.options["n"]))]
        status = "completed" if usage else "failed"
        yield TurnEnded(request.turn_id, status, usage=usage)  # type: ignore[arg-type]

    prices = Prices(by_model={"*": {"input": 1, "output": 2}})
    profiles = {"s": EngineProfile(prices=prices)}
    async with gateway(
        store=open_store(), engines={"s": ScriptEngine(script)}, profiles=profiles
    ) as world:
        conversation_id = await world.conversation()
        turns = [await world.ask(conversation_id, options={"n": n}) for n in range(3)]

        assert [turn.get("cost") for turn in turns] == [{"usd": 14e-6}, {"usd": 5e-6}, None]
        shape = await world.service.read_conversation(conversation_id, None)
        assert shape["usage"] == {
            "turns": 3,
            "input_tokens": 15,
            "output_tokens": 2,
            "reasoning_tokens": 7,
            "cost": {"usd": 19e-6},
        }


def test_an_engine_that_makes_up_names_of_counts_grows_no_row_for_ever() -> None:
    accounts = Accounts(prices={}, redact=lambda text: text)
    known = {f"n{number}": 1 for number in range(60)}
    conversation = ConversationRow(id="c", created_at=1, updated_at=1, totals=known)
    turn = TurnRow(
        id="t",
        conversation_id="c",
        status="completed",
        engine="s",
        created_at=1,
        request_message_id="m",
        usage={"n1": 2, "turns": 5, **{f"new{number}": 1 for number in range(9)}},
    )

    added = accounts.totals(conversation, turn)

    assert added == {"turns": 1, "n1": 2, "new0": 1, "new1": 1, "new2": 1}
    assert totals_shape({}) == {"turns": 0}


@pytest.mark.requirement("gateway:system:owner")
async def test_a_system_prompt_is_shown_to_the_owner_alone() -> None:
    async with gateway() as world:
        service = world.service
        made = await service.create_conversation({"system": "Be."}, tenant=None, view="owner")
        conversation_id = str(made["id"])

        for view, seen in (("owner", "Be."), ("public", None)):
            read = await service.read_conversation(conversation_id, None, view=view)  # type: ignore[arg-type]
            listed = await service.list_conversations(
                cursor=None,
                limit=9,
                tenant=None,
                view=view,  # type: ignore[arg-type]
            )
            changed = await service.update_conversation(
                conversation_id,
                {"tags": []},
                None,
                view=view,  # type: ignore[arg-type]
            )
            shapes: list[Any] = [read, listed["items"][0], changed]  # type: ignore[index]
            assert [shape.get("system") for shape in shapes] == [seen] * 3
