"""The status row in words: what happens now, what a key would do about it, and the facts.

Spec: docs/spec/chat/index.md, "The prompt".
"""

from __future__ import annotations

from blockwire.tui.choices import Choices
from blockwire.tui.historysearch import HistorySearch
from blockwire.tui.promptrows import PromptSpan
from blockwire.tui.talk import Talk
from blockwire.tui.tokens import amount_words, elapsed_words

__all__ = ["activity_of", "facts_of", "search_words"]

SEPARATOR = " \u00b7 "


def search_words(search: HistorySearch) -> str:
    """Return how far a search through the inputs is."""
    failing = "nothing found" if search.is_failing else "search inputs"
    return f"{failing}: {search.query}{SEPARATOR}Enter sends{SEPARATOR}Esc edits"


def activity_of(talk: Talk, *, is_answering: bool, now_s: float, is_animated: bool) -> PromptSpan:
    """Return what happens now.

    Args:
        talk: Of the conversation.
        is_answering: What is typed answers the turn.
        now_s: Time of the clock.
        is_animated: Whether words may change by themselves.
    """
    turns = talk.turns
    if talk.outage.is_shown(now_s):
        return PromptSpan("the gateway is out of reach; trying until it is back", "warning")
    if turns.is_cancelling:
        return PromptSpan("stopping", "activity")
    if turns.asked is not None:
        how = "answer, then Enter" if is_answering else "waits for an answer"
        return PromptSpan(f"{how}{SEPARATOR}Esc stops the turn", "warning")
    if turns.turn is not None:
        seconds = f" {elapsed_words(turns.elapsed_s(now_s))}" if is_animated else ""
        return PromptSpan(f"answering{seconds}{SEPARATOR}Esc stops it", "activity")
    if talk.outbox.questions:
        return PromptSpan(f"sending{SEPARATOR}Esc takes it back", "activity")
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
