"""What is kept of a conversation as a whole: a title, what its turns used and what that cost.

Spec: docs/spec/gateway/conversations.md, "Titles", "Totals".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from blockwire.content import TURN_TERMINAL_STATUSES, Message
from blockwire.gateway.turns.titles import auto_title
from blockwire.jsontext import SAFE_INTEGER_MAX, Json
from blockwire.ports import ConversationRow, TurnRow

__all__ = ["ANY_MODEL", "COST_PREFIX", "PRICED", "Accounts", "Prices", "cost_shape", "totals_shape"]

COST_PREFIX: Final = "cost_"
"""Before a currency, in the names of totals."""

BILLIONTHS: Final = 1_000_000_000
_BILLIONTHS_PER_TOKEN: Final = BILLIONTHS // 1_000_000

PRICED: Final[Mapping[str, str]] = {
    "input": "input_tokens",
    "cached_input": "cached_input_tokens",
    "cache_write": "cache_write_tokens",
    "output": "output_tokens",
}
"""Name of a price -> the count of a turn's usage that it is for."""

ANY_MODEL: Final = "*"
"""Where a model is named, any other one."""

_COUNTS_MAX: Final = 64
"""Names of totals: an engine that makes up names for its counts must not grow a row for ever."""


class Prices(Struct, frozen=True, kw_only=True):
    """What an engine's tokens cost, as its owner says; nothing is known without.

    Attributes:
        by_model: Prices of a million tokens, by name (:data:`PRICED`), by model; ``"*"`` is any
            other model.
        currency: Three lower-case letters.
        input_has_cached: Its ``input_tokens`` count those that came from a cache, too.
    """

    by_model: Mapping[str, Mapping[str, float]]
    currency: str = "usd"
    input_has_cached: bool = True

    def cost(self, model: str | None, usage: Mapping[str, Json] | None) -> dict[str, Json] | None:
        """Return ``{currency: billionths}``, or None where a price or a count is missing."""
        prices = self.by_model.get(model or "", self.by_model.get(ANY_MODEL))
        counts = _counts(usage)
        if prices is None or not counts:
            return None
        cached = counts.get("cached_input_tokens", 0)
        if self.input_has_cached and "cached_input" in prices and "input_tokens" in counts:
            counts["input_tokens"] = max(counts["input_tokens"] - cached, 0)
        per_token = sum(
            price * counts.get(PRICED[name], 0) for name, price in prices.items() if name in PRICED
        )
        return {self.currency: round(per_token * _BILLIONTHS_PER_TOKEN)}


def _counts(usage: Mapping[str, Json] | None) -> dict[str, int]:
    return {
        name: count
        for name, count in (usage or {}).items()
        if type(count) is int and 0 <= count <= SAFE_INTEGER_MAX
    }


class Accounts:
    """Keeps the books of all conversations; changes nothing itself.

    Args:
        prices: By engine.
        redact: Returns a text without credentials.
        on_turn: Told of each turn that ended or waits for a person, once that is committed; must
            neither block nor raise.
    """

    def __init__(
        self,
        *,
        prices: Mapping[str, Prices],
        redact: Callable[[str], str],
        on_turn: Callable[[TurnRow], None] | None = None,
    ) -> None:
        self._prices = prices
        self._redact = redact
        self._on_turn = on_turn

    def use(self, prices: Mapping[str, Prices], redact: Callable[[str], str]) -> None:
        """Keep the books with other prices from now on."""
        self._prices, self._redact = prices, redact

    def title(self, row: ConversationRow, messages: Iterable[Message]) -> str | None:
        """Return the automatic title that ``messages``, which are new, give a conversation."""
        if row.auto_title is not None:
            return None
        titles = (auto_title(message, self._redact) for message in messages)
        return next((title for title in titles if title is not None), None)

    def priced(self, row: TurnRow) -> TurnRow:
        """Return the row of a turn that has just ended, with its cost where it is known."""
        prices = self._prices.get(row.engine)
        cost = None if prices is None else prices.cost(row.model, row.usage)
        return row if cost is None else msgspec.structs.replace(row, cost=cost)

    def totals(self, conversation: ConversationRow, turn: TurnRow) -> dict[str, int]:
        """Return what a turn that has just ended adds to the totals of its conversation."""
        more = {"turns": 1, **_counts(turn.usage)}
        # A provider's count of that name is not ours; the first names are the last to be cut.
        more["turns"] = 1
        for currency, billionths in _counts(turn.cost).items():
            more[f"{COST_PREFIX}{currency}"] = billionths
        known = conversation.totals
        room = _COUNTS_MAX - len(known)
        new = [name for name in more if name not in known][: max(room, 0)]
        return {name: count for name, count in more.items() if name in known or name in new}

    def tell(self, before: str | None, turn: TurnRow) -> None:
        """Tell of a committed turn whose status was ``before``, where that is news."""
        is_news = turn.status in TURN_TERMINAL_STATUSES or turn.status == "suspended"
        if self._on_turn is not None and is_news and turn.status != before:
            self._on_turn(turn)


def cost_shape(cost: Mapping[str, Json]) -> dict[str, Json]:
    """Return costs by currency, in its units."""
    return {currency: count / BILLIONTHS for currency, count in _counts(cost).items()}


def totals_shape(totals: Mapping[str, int]) -> dict[str, Json]:
    """Return the totals of a conversation: ``{turns, <counts>..., cost?}``."""
    shape: dict[str, Json] = {"turns": totals.get("turns", 0)}
    cost: dict[str, Json] = {}
    for name, count in totals.items():
        if name.startswith(COST_PREFIX):
            cost[name.removeprefix(COST_PREFIX)] = count
        else:
            shape[name] = count
    return {**shape, "cost": cost_shape(cost)} if cost else shape
