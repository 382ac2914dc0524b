"""What the suite of provider streams demands, checked as its ``how_to_compare`` says, no looser.

Spec: docs/spec/providers.md, "The suite".
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from blockwire.content import ConversationState, Message, StreamEvent, TurnEnded, advance
from blockwire.content.events import TurnStarted
from blockwire.providers import ProviderApi, ProviderDecoder, make_decoder

TURN_ID: Final = "turn_1"


@dataclass(frozen=True, slots=True)
class Decoded:
    """One stream, decoded."""

    events: list[StreamEvent]
    message: Message
    decoder: ProviderDecoder

    @property
    def ended(self) -> TurnEnded:
        last = self.events[-1]
        assert isinstance(last, TurnEnded)
        return last

    @property
    def blocks(self) -> list[dict[str, Any]]:
        content = self.message["content"]
        assert isinstance(content, list)
        return [block for block in content if isinstance(block, dict)]

    def of_type(self, *types: str) -> list[dict[str, Any]]:
        return [block for block in self.blocks if block["type"] in types]


def counting_ids() -> Callable[[str], str]:
    """Return a ``new_id`` that counts, so that equal streams give equal events."""
    count = 0

    def new_id(kind: str) -> str:
        nonlocal count
        count += 1
        return f"{kind}_{count}"

    return new_id


def decode(api: ProviderApi, chunks: Iterable[bytes]) -> Decoded:
    """Decode a body; every event must pass the reducer, and exactly one, the last, is terminal."""
    decoder = make_decoder(api, turn_id=TURN_ID, new_id=counting_ids())
    events: list[StreamEvent] = []
    for chunk in chunks:
        events += decoder.receive_data(chunk)
    events += decoder.receive_eof()
    assert decoder.receive_data(b"data: {}\n\n{}\n") == []
    assert decoder.receive_eof() == []
    assert decoder.is_over
    return Decoded(events, fold(events), decoder)


def fold(events: Iterable[StreamEvent]) -> Message:
    """Return the message that the events make."""
    state = advance(ConversationState(), TurnStarted(TURN_ID, "assistant", 1))
    for event in events:
        assert not isinstance(event, TurnStarted)
        state = advance(state, event)
    message = state.find_message(TURN_ID)
    assert message is not None
    assert not state.running
    return message


def texts(decoded: Decoded) -> list[tuple[str, str]]:
    """Return type and text of each block; of a tool its name, of an error or notice its code."""
    names = {"prose": "markdown", "reasoning": "text", "tool": "tool"}
    return [(b["type"], b[names.get(b["type"], "code")]) for b in decoded.blocks]


def outcome_of(decoded: Decoded) -> str:
    """Return the suite's word for how the turn ended."""
    closing = decoded.of_type("error", "notice")
    codes = {block["code"] for block in closing}
    if codes & {"stream_truncated", "answer_truncated"}:
        return "truncated"
    if codes & {"refusal", "content_filter"}:
        return "refused"
    if decoded.ended.status == "failed":
        return "failed"
    assert decoded.ended.status == "completed"
    assert not closing, f"a plain success with {codes}"
    if decoded.ended.finish_reason == "tool_calls":
        return "tool_calls"
    assert decoded.ended.finish_reason == "stop"
    return "completed"


def complaints(expected: dict[str, Any], decoded: Decoded) -> list[str]:
    """Return what is wrong; nothing when the stream gave what the suite expects.

    Of ``any_of``, each alternative overrides members of the whole; one of them must fit.
    """
    alternatives = expected.get("any_of")
    if not alternatives:
        return _complaints(expected, decoded)
    each = [_complaints({**expected, **alternative}, decoded) for alternative in alternatives]
    return min(each, key=len)


def _complaints(expected: dict[str, Any], decoded: Decoded) -> list[str]:
    found: list[str] = []
    outcome = outcome_of(decoded)
    if outcome not in {expected["outcome"], *expected.get("outcome_any", [])}:
        found.append(f"outcome {outcome}, not {expected['outcome']}")
    found += _block_complaints(expected, decoded)
    found += _error_complaints(expected, decoded)
    pending = [b for b in decoded.of_type("tool") if b["status"] in {"pending", "running"}]
    if (outcome == "tool_calls") != bool(pending):
        found.append(f"{len(pending)} calls wait after {outcome}")
    if expected.get("usage"):
        usage = decoded.ended.usage or {}
        got = {"input": usage.get("input_tokens"), "output": usage.get("output_tokens")}
        if got != expected["usage"]:
            found.append(f"usage {got}, not {expected['usage']}")
    return found


def _block_complaints(expected: dict[str, Any], decoded: Decoded) -> list[str]:
    blocks = decoded.of_type("prose", "reasoning", "tool", "code")
    if expected.get("merge_adjacent"):
        blocks = _merged(blocks)
    wanted = list(expected["blocks"])
    for block in blocks:
        why: list[str] = ["nothing more is expected"]
        while wanted:
            why = _mismatches(wanted[0], block)
            if not why or not wanted[0].get("optional"):
                break
            wanted.pop(0)
        if why:
            return [f"{block['type']}: {'; '.join(why)}"]
        wanted.pop(0)
    told = "".join(block["message"] for block in decoded.of_type("error", "notice"))
    return [
        f"missing: {block}"
        for block in wanted
        if not block.get("optional") and not (block.get("refusal") and block["markdown"] in told)
    ]


def _merged(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    merged: list[dict[str, Any]] = []
    for block in blocks:
        if merged and merged[-1]["type"] == block["type"] == "prose":
            merged[-1] = {**merged[-1], "markdown": merged[-1]["markdown"] + block["markdown"]}
        else:
            merged.append(block)
    return merged


def _mismatches(wanted: dict[str, Any], block: dict[str, Any]) -> list[str]:
    if wanted["type"] != block["type"]:
        return [f"type {block['type']}, not {wanted['type']}"]
    if wanted["type"] == "tool":
        return _tool_mismatches(wanted, block)
    name = "markdown" if wanted["type"] == "prose" else "text"
    found = [] if block[name] == wanted[name] else [f"{block[name]!r}, not {wanted[name]!r}"]
    data = block.get("provider_data", {})
    for flag, member in (
        ("signature", "signature"),
        ("encrypted", "encrypted_content"),
        ("redacted", "redacted_data"),
    ):
        if wanted.get(flag) and not data.get(member):
            found.append(f"no {member}")
    if "phase" in wanted and data.get("phase") != wanted["phase"]:
        found.append(f"phase {data.get('phase')}")
    if block["type"] == "reasoning" and block.get("visibility", "private") != "private":
        found.append("reasoning is not private")
    return found


def _tool_mismatches(wanted: dict[str, Any], block: dict[str, Any]) -> list[str]:
    found: list[str] = []
    given: Any = (
        json.JSONDecoder().decode(block["input_json"]) if _is_whole(block) else block.get("input")
    )
    want = wanted.get("input_text", wanted["input"])
    if wanted.get("input_subset"):
        given = {name: given.get(name) for name in want}
    if json.dumps(given) != json.dumps(want):
        found.append(f"input {given}, not {want}")
    if block["tool"] != wanted["tool"]:
        found.append(f"tool {block['tool']}, not {wanted['tool']}")
    if "call_id" in wanted and block["provider_data"].get("call_id") != wanted["call_id"]:
        found.append(f"another call_id than {wanted['call_id']}")
    default = "pending" if wanted["executed_by"] == "client" else "completed"
    statuses = wanted.get("status_any", [wanted.get("status", default)])
    if block["status"] not in statuses:
        found.append(f"status {block['status']}, not {statuses}")
    if wanted.get("output_contains", "") not in json.dumps(block.get("output")):
        found.append("another output")
    return found


def _is_whole(block: dict[str, Any]) -> bool:
    return "input" in block and "input_json" in block


def _error_complaints(expected: dict[str, Any], decoded: Decoded) -> list[str]:
    errors = decoded.of_type("error")
    if len(errors) != (decoded.ended.status == "failed"):
        return [f"{len(errors)} error blocks after {decoded.ended.status}"]
    wanted = expected.get("error")
    if wanted is None:
        return []
    if not errors:
        return ["no error block"]
    error = errors[0]
    found: list[str] = []
    codes = wanted.get("code_any", [wanted["code"]] if "code" in wanted else [])
    if codes and error["code"] not in codes and error.get("provider_code") not in codes:
        found.append(f"code {error['code']}, not {codes}")
    if wanted.get("message_contains", "") not in error["message"]:
        found.append(f"message {error['message']!r}")
    if "retryable" in wanted and error.get("retryable", False) != wanted["retryable"]:
        found.append(f"retryable {error.get('retryable')}")
    if decoded.ended.error_code != error["code"]:
        found.append(f"error_code {decoded.ended.error_code}")
    return found
