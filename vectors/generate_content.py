# ruff: noqa: D103, INP001 - a program beside its data, not a package
"""Write the vectors of content blocks: what a reader in any language must make of given input.

Usage: ``python -m vectors.generate_content [FOLDER]``. The inputs are in ``content_inputs``; what
is expected of them comes from blockwire, whose own tests hold it to the specification, and is
reviewed as a diff. ``vectors/content/README.md`` says what each file holds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from blockwire.content import (
    Block,
    BlockDelta,
    ConversationState,
    Merged,
    StreamEvent,
    TurnState,
    advance,
    apply,
    check_keys,
    check_message,
    convert_key,
    convert_keys,
    convert_record,
    cut_merged,
    decode_event,
    end_turn,
    event_members,
    make_snapshot,
    merge_entries,
    tool_value,
    visible_event,
    visible_message,
)
from blockwire.errors import BlockwireError
from blockwire.jsontext import Json, encode_json
from blockwire.render import block_text, message_text
from vectors.content_inputs import (
    ARGUMENTS,
    BAD_KEYS,
    ENDINGS,
    KEYS,
    MALFORMED,
    MESSAGES,
    OPEN,
    RECORDS,
    REFUSED,
    SCRIPTS,
    TEXTS,
    TURN,
    VALUES,
    WHOLE_TURN,
    Record,
    delta,
    numbered,
    prose,
    turn,
)

FOLDER: Final = Path(__file__).parent / "content"


# what comes out -------------------------------------------------------------------------------
def fold(events: list[Record], state: ConversationState | None = None) -> ConversationState:
    state = state or ConversationState()
    for event in events:
        state = apply(state, decode_event(event))
    return state


def spelled(state: ConversationState) -> Record:
    return {
        "conversation_id": state.conversation_id,
        "seq": state.seq,
        "messages": list(state.messages),
        "turns": [spelled_turn(it) for it in state.turns],
    }


def spelled_turn(it: TurnState) -> Json:
    record: Record = {
        "id": it.turn_id,
        "status": it.turn_status,
        "open_block_ids": [block.id for block in it.open_blocks],
        **it.ended,
    }
    if it.request is not None:
        record["request"] = dict(it.request)
    return record


def code_of(action: Callable[[], object]) -> Record:
    """Return the code, and the pointer if there is one, with which ``action`` is refused."""
    try:
        action()
    except BlockwireError as error:
        found: Record = {"code": error.code}
        if error.pointer is not None:
            found["pointer"] = error.pointer
        return found
    raise AssertionError("it was not refused")


def shown_to(view: str, events: list[Record]) -> list[Record]:
    state, prev_seq, shown = ConversationState(), 0, []
    for event in map(decode_event, events):
        seen = visible_event(cast("Any", view), event, state)
        if seen is not None:
            shown.append({**event_members(seen), "prev_seq": prev_seq})
            prev_seq = seen.seq
        state = apply(state, event)
    # A stamp of 0 is not written, and the first event follows nothing.
    return [{k: v for k, v in event.items() if k != "prev_seq" or v} for event in shown]


# files ----------------------------------------------------------------------------------------
def reducer() -> Iterator[Record]:
    for name, script in SCRIPTS.items():
        events = numbered(script)
        yield {"name": name, "events": list(events), "state": spelled(fold(events))}
    log = numbered(WHOLE_TURN)
    yield {
        "name": "what was seen already changes nothing",
        "events": [*log[:8], *log[4:], *log],
        "state": spelled(fold(log)),
    }
    first = numbered([prose(), delta("Six")])
    yield {
        "name": "the first block of a turn that nobody announced begins it",
        "events": list(first),
        "state": spelled(fold(first)),
    }
    snapshot = event_members(make_snapshot(fold(log[:9])))
    yield {
        "name": "a snapshot in the middle, then the tail",
        "events": [snapshot, *log[5:]],
        "state": spelled(fold(log)),
    }
    older = event_members(make_snapshot(fold(log[:3])))
    yield {
        "name": "a snapshot replaces everything, also when it is older",
        "events": [*log, older],
        "state": spelled(fold(log[:3])),
    }
    ready: Record = {"type": "subscription.ready", "cursor": 4}
    yield {
        "name": "an event without a number changes nothing",
        "events": [*log[:3], ready],
        "state": spelled(fold(log[:3])),
    }


def refusals() -> Iterator[Record]:
    for so_far, then in REFUSED:
        events = numbered(so_far)
        state = fold(events)
        event = numbered([*so_far, then])[-1]
        refused = code_of(partial(apply, state, decode_event(event)))
        yield {"events": list(events), "then": event, "code": refused["code"]}
    gap = {**numbered([turn(), prose(), delta("x")])[2], "prev_seq": 2}
    yield {"events": list(numbered([turn()])), "then": gap, "code": "sequence_gap"}


def malformed() -> Iterator[Record]:
    for value in MALFORMED:
        yield {"value": value, **code_of(partial(decode_event, value))}


def keys() -> Iterator[Record]:
    for key in KEYS:
        yield {"kind": "key", "key": key, "converted": convert_key(key)}
    for value in VALUES:
        converted = convert_keys(value)
        yield {
            "kind": "value",
            "value": value,
            "converted": converted.value,
            "changed": converted.changed,
        }
    for value in BAD_KEYS:
        yield {"kind": "refused", "value": value, **code_of(partial(check_keys, value))}


def conversion() -> Iterator[Record]:
    for text in RECORDS:
        yield {"kind": "record", "text": text, "value": convert_record(text.encode())}
    for text in ARGUMENTS:
        yield {"kind": "tool_input", "text": text, "members": dict(tool_value(text))}


def visibility() -> Iterator[Record]:
    for name, script in SCRIPTS.items():
        events = numbered(script)
        public = shown_to("public", events)
        yield {
            "name": name,
            "owner_events": list(events),
            "public_events": list(public),
            "public_state": spelled(fold(public)),
        }
    for event in MESSAGES:
        message = check_message(event["message"])
        yield {
            "name": "a message",
            "message": message,
            "public": visible_message("public", message),
        }


def merging() -> Iterator[Record]:
    for name in ("two blocks open at once", "a whole turn with every kind of block"):
        for view in ("owner", "public"):
            events = shown_to(view, numbered(SCRIPTS[name]))
            entries = merge_entries(Merged(decode_event(event)) for event in events)
            yield {
                "kind": "merge",
                "name": name,
                "view": view,
                "events": list(events),
                "merged": [
                    {"event": event_members(it.event), "pairs": [list(pair) for pair in it.pairs]}
                    for it in entries
                ],
            }
    merged = cast(
        "BlockDelta", decode_event({**delta("ab\U0001f600d\u0301"), "seq": 9, "prev_seq": 3})
    )
    for pairs in (((5, 2), (7, 0), (9, 3)), ()):
        for cursor in range(2, 11):
            cut = cut_merged(merged, pairs, cursor)
            yield {
                "kind": "cut",
                "event": event_members(merged),
                "pairs": [list(pair) for pair in pairs],
                "cursor": cursor,
                "sent": None if cut is None else event_members(cut),
            }


def endings() -> Iterator[Record]:
    for status, finish_reason, block in ENDINGS:
        state = fold(numbered(OPEN))
        events: list[StreamEvent] = end_turn(
            state.running[TURN], status, block=block, finish_reason=finish_reason
        )
        for event in events:
            state = advance(state, event)
        yield {
            "events": list(numbered(OPEN)),
            "status": status,
            "finish_reason": finish_reason,
            "block": block,
            "then": [event_members(event) for event in events],
            "message": state.find_message(TURN),
        }


def text() -> Iterator[Record]:
    for name, message in TEXTS.items():
        checked = check_message(message)
        yield {
            "name": name,
            "message": checked,
            "text": message_text(checked),
            "with_reasoning": message_text(checked, with_reasoning=True),
            "blocks": [block_text(block) for block in cast("list[Block]", checked["content"])],
        }


FILES: Final[dict[str, Callable[[], Iterator[Record]]]] = {
    "reducer": reducer,
    "refusals": refusals,
    "malformed": malformed,
    "keys": keys,
    "conversion": conversion,
    "visibility": visibility,
    "merging": merging,
    "endings": endings,
    "text": text,
}


def text_of(name: str) -> bytes:
    """Return the content of the file of this name."""
    return b"".join(encode_json(record) + b"\n" for record in FILES[name]())


def main(folder: Path) -> None:
    """Write all files."""
    for name in FILES:
        (folder / f"{name}.jsonl").write_bytes(text_of(name))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
