"""The status row in words: what happens now, what a key would do about it, and the facts.

Spec: docs/spec/chat/index.md, "The prompt".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from blockwire.tui.choices import Choices
from blockwire.tui.historysearch import HistorySearch
from blockwire.tui.promptrows import PromptSpan
from blockwire.tui.talk import Talk
from blockwire.tui.tokens import amount_words, elapsed_words

__all__ = ["KeyWords", "activity_of", "facts_of", "quit_words", "search_words"]

KeyWords: TypeAlias = Callable[[str], str]
"""Returns the key of an action as people read it; empty if it has none."""

SEPARATOR = " \u00b7 "


def search_words(search: HistorySearch, describe_keys: KeyWords) -> str:
    """Return how far a search through the inputs is."""
    failing = "nothing found" if search.is_failing else "search inputs"
    ways = (_way(describe_keys("submit"), "sends"), _way(describe_keys("cancel"), "edits"))
    return f"{failing}: {search.query}{''.join(ways)}"


def quit_words(describe_keys: KeyWords) -> str:
    """Return what leaves now."""
    return f"{describe_keys('interrupt')} again leaves"


def _way(key: str, effect: str) -> str:
    """Return what a key would do, behind something else; nothing if no key does it."""
    return f"{SEPARATOR}{key} {effect}" if key else ""


def activity_of(
    talk: Talk,
    describe_keys: KeyWords,
    *,
    is_answering: bool,
    now_s: float,
    is_animated: bool,
) -> PromptSpan:
    """Return what happens now.

    Args:
        talk: Of the conversation.
        describe_keys: Names the keys that would change it.
        is_answering: What is typed answers the turn.
        now_s: Time of the clock.
        is_animated: Whether words may change by themselves.
    """
    turns, stop = talk.turns, describe_keys("cancel")
    if talk.outage.is_shown(now_s):
        return PromptSpan("the gateway is out of reach; trying until it is back", "warning")
    if turns.is_cancelling:
        return PromptSpan("stopping", "activity")
    if turns.asked is not None:
        enter = describe_keys("submit")
        how = f"answer, then {enter}" if is_answering and enter else "waits for an answer"
        return PromptSpan(f"{how}{_way(stop, 'stops the turn')}", "warning")
    if turns.turn is not None:
        seconds = f" {elapsed_words(turns.elapsed_s(now_s))}" if is_animated else ""
        return PromptSpan(f"answering{seconds}{_way(stop, 'stops it')}", "activity")
    if talk.outbox.questions:
        return PromptSpan(f"sending{_way(stop, 'takes it back')}", "activity")
    return PromptSpan(talk.title or "", "status")


def facts_of(talk: Talk, choices: Choices) -> str:
    """Return what answers, and what the turns that are shown came to."""
    tokens = talk.tokens
    facts = [choices.engine_shown, choices.model or tokens.model or ""]
    if tokens.input_count or tokens.output_count:
        counts = (amount_words(tokens.input_count), amount_words(tokens.output_count))
        facts.append(f"{counts[0]} in, {counts[1]} out")
    if talk.turns.turn is None and talk.turns.last_turn_s is not None:
        facts.append(elapsed_words(talk.turns.last_turn_s))
    return SEPARATOR.join(dict.fromkeys(fact for fact in facts if fact))
