"""The comparison and the judge find what is wrong: a test that cannot fail proves nothing."""

from typing import Any

import pytest

from blockwire.content import TurnEnded
from blockwire.providers import ProviderApi
from tests.providers.compare import Decoded, complaints, decode
from tests.providers.mutations import attack, judge, judge_cut
from tests.providers.samples import SAMPLES, Sample, prose, reasoning, result, tool
from tests.providers.test_mutations import seeds_of


def sample(name: str) -> Sample:
    (found,) = [each for each in SAMPLES if each.name == name]
    return found


CALLS = sample("reasoning, then two calls in fragments")
SIGNED = sample("signed thinking, text, a call")
SEARCH = sample("redacted thinking, a tool of the server, cited text")
OVERLOADED = sample("overloaded in mid-answer")
TEXT = sample("text with usage at the end")
PHASE = sample("encrypted reasoning, a search of the server, text with a citation")

PARIS = tool("weather", {"cityName": "Paris", "days": 2}, call_id="a")
ROME = tool("weather", {"cityName": "Rome", "days": 1.0}, call_id="b")
BOTH = reasoning("Both cities.")

WRONG: list[tuple[Sample, dict[str, Any], str]] = [
    (CALLS, result("completed", BOTH, PARIS, ROME), "outcome"),
    (CALLS, result("tool_calls", BOTH, PARIS), "nothing more"),
    (CALLS, result("tool_calls", BOTH, PARIS, ROME, prose("x")), "missing"),
    (CALLS, result("tool_calls", BOTH, ROME, PARIS), "input"),
    (CALLS, result("tool_calls", prose("Both cities."), PARIS, ROME), "type"),
    (CALLS, result("tool_calls", reasoning("Both"), PARIS, ROME), "not 'Both'"),
    (CALLS, result("tool_calls", BOTH, {**PARIS, "input": {"cityName": "Paris"}}, ROME), "input"),
    (CALLS, result("tool_calls", BOTH, {**PARIS, "tool": "time"}, ROME), "tool weather"),
    (CALLS, result("tool_calls", BOTH, {**PARIS, "call_id": "b"}, ROME), "call_id"),
    (CALLS, result("tool_calls", BOTH, {**PARIS, "executed_by": "provider"}, ROME), "status"),
    (CALLS, result("tool_calls", {**BOTH, "signature": True}, PARIS, ROME), "no signature"),
    (CALLS, result("tool_calls", BOTH, PARIS, ROME, error={"code": "x"}), "no error"),
    (TEXT, {**TEXT.expected, "usage": {"input": 3, "output": 8}}, "usage"),
    (SIGNED, {**SIGNED.expected, "outcome": "truncated"}, "outcome"),
    (PHASE, {**PHASE.expected, "blocks": [*PHASE.expected["blocks"][:2],
             prose("Sunny.", phase="commentary")]}, "phase"),
    (SEARCH, {**SEARCH.expected, "blocks": [{**block, "output_contains": "U"}
              if block["type"] == "tool" else block for block in SEARCH.expected["blocks"]]},
     "output"),
    (OVERLOADED, result("failed", prose("Half"), error={"code": "e_1"}), "code"),
    (OVERLOADED, result("failed", prose("Half"), error={"retryable": False}), "retryable"),
    (OVERLOADED, result("failed", prose("Half"), error={"message_contains": "x"}), "message"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected", "complaint"), WRONG)
def test_a_wrong_expectation_is_complained_about(
    given: Sample, expected: dict[str, Any], complaint: str
) -> None:
    found = complaints(expected, decode(given.api, [given.body]))

    assert complaint in "".join(found)


def test_optional_blocks_may_be_missing_and_one_alternative_must_fit() -> None:
    decoded = decode(CALLS.api, [CALLS.body])
    optional = {**prose("x"), "optional": True}

    assert complaints(result("tool_calls", BOTH, optional, PARIS, ROME, optional), decoded) == []
    fits = {"blocks": [BOTH, PARIS, ROME]}
    assert complaints(result("tool_calls", any_of=[{"blocks": []}, fits]), decoded) == []
    assert complaints(result("tool_calls", any_of=[{"blocks": []}]), decoded) != []


def test_text_of_a_refusal_may_be_told_in_the_closing_block() -> None:
    refused = sample("a refusal without a word")
    decoded = decode(refused.api, [refused.body])
    said = {**prose("It was refused."), "refusal": True}

    assert complaints({**refused.expected, "blocks": [said]}, decoded) == []


def altered(sample: Sample, end: TurnEnded | None = None, **members: Any) -> Decoded:
    """Return the result of ``sample`` with other members in its first tool, or another end."""
    decoded = decode(sample.api, [sample.body])
    blocks = decoded.blocks
    index = next(i for i, block in enumerate(blocks) if block["type"] == "tool")
    block = {k: v for k, v in {**blocks[index], **members}.items() if v is not None}
    content: Any = [*blocks[:index], block, *blocks[index + 1 :]]
    events = decoded.events if end is None else [*decoded.events[:-1], end]
    return Decoded(events, {**decoded.message, "content": content}, decoded.decoder)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (altered(CALLS, status="running"), "runs for ever"),
        (altered(CALLS, input=None), "no whole input"),
        (altered(CALLS, status="failed"), "does not say why"),
        (altered(CALLS, TurnEnded("turn_1", "failed")), "a call waits"),
        (altered(CALLS, TurnEnded("turn_1", "failed")), "0 error blocks"),
        (altered(CALLS, TurnEnded("turn_1", "completed", finish_reason="length")), "like success"),
        (altered(CALLS, type="prose", markdown=""), "an empty prose block"),
    ],
)
def test_the_judge_sees_what_is_wrong(wrong: Decoded, complaint: str) -> None:
    assert complaint in " ".join(judge(wrong))


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (altered(CALLS, TurnEnded("turn_1", "failed")), "0 error blocks after failed"),
        (altered(CALLS, type="reasoning", text="x", visibility="visible"), "not private"),
        (altered(SIGNED, TurnEnded("turn_1", "completed", finish_reason="stop")), "calls wait"),
    ],
)
def test_a_wrong_result_is_complained_about(wrong: Decoded, complaint: str) -> None:
    blocks = [{**block, "type": "reasoning", "text": "x"} for block in wrong.of_type("tool")]
    expected = result("tool_calls", *wrong.of_type("reasoning")[:1], *blocks)

    assert complaint in " ".join(complaints(expected, wrong))


def test_the_code_of_the_end_is_that_of_the_block() -> None:
    decoded = decode(OVERLOADED.api, [OVERLOADED.body])
    end = TurnEnded("turn_1", "failed", error_code="other")
    wrong = Decoded([*decoded.events[:-1], end], decoded.message, decoded.decoder)

    assert complaints(OVERLOADED.expected, wrong) == ["error_code other"]


def test_the_judge_of_cuts_sees_what_is_wrong() -> None:
    whole = decode(CALLS.api, [CALLS.body])

    assert judge_cut(whole, whole) == []
    assert "other calls" in " ".join(judge_cut(whole, altered(CALLS, input={"a": 1})))
    shorter = decode(TEXT.api, [TEXT.body])
    assert "looks whole" in " ".join(judge_cut(whole, shorter))


def test_an_attack_tells_which_body_was_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = seeds_of("ollama")

    def decode_badly(_api: ProviderApi, _pieces: list[bytes]) -> Decoded:
        return altered(CALLS, input=None)

    def raise_error(api: ProviderApi, _pieces: list[bytes]) -> Decoded:
        raise KeyError(api)

    for decoder, words in ((decode_badly, "no whole input"), (raise_error, "raised KeyError")):
        monkeypatch.setattr("tests.providers.mutations.decode", decoder)
        with pytest.raises(AssertionError, match=words):
            attack(seeds, count=1, seed=0)
