"""The vectors, which readers in other languages are held to as well, and where they come from."""

from typing import Any, Final

import pytest

from blockwire.content import (
    ConversationState,
    Merged,
    apply,
    check_keys,
    convert_key,
    convert_keys,
    convert_record,
    cut_merged,
    decode_event,
    end_turn,
    event_members,
    merge_entries,
    tool_value,
    visible_event,
    visible_message,
)
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import decode_json, encode_json, equal_json
from tests.suites import PROJECT
from vectors import generate_content

FOLDER: Final = PROJECT / "vectors" / "content"


def vectors(name: str, kind: str | None = None) -> list[Any]:
    lines = (FOLDER / f"{name}.jsonl").read_bytes().splitlines()
    records: list[Any] = [decode_json(line) for line in lines]
    return [record for record in records if kind is None or record["kind"] == kind]


def fold(events: list[Any]) -> ConversationState:
    state = ConversationState()
    for event in events:
        state = apply(state, decode_event(event))
    return state


def spelled(state: ConversationState) -> Any:
    return generate_content.spelled(state)


@pytest.mark.parametrize("name", sorted(generate_content.FILES))
def test_the_files_are_what_the_program_writes(name: str) -> None:
    assert (FOLDER / f"{name}.jsonl").read_bytes() == generate_content.text_of(name)


def test_there_is_no_other_file_and_the_readme_names_each(tmp_path: Any) -> None:
    generate_content.main(tmp_path)

    written = {path.name for path in tmp_path.iterdir()}
    assert {path.name for path in FOLDER.glob("*.jsonl")} == written
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [name for name in written if f"`{name}`" not in readme] == []


@pytest.mark.parametrize("case", vectors("reducer"), ids=lambda case: case["name"])
def test_events_make_the_state(case: Any) -> None:
    assert equal_json(spelled(fold(case["events"])), case["state"])


@pytest.mark.parametrize("case", vectors("refusals"), ids=lambda case: case["code"])
def test_an_event_is_refused_and_changes_nothing(case: Any) -> None:
    state = fold(case["events"])
    before = spelled(state)

    with pytest.raises(RemoteProtocolError) as refused:
        apply(state, decode_event(case["then"]))

    assert refused.value.code == case["code"]
    assert equal_json(spelled(state), before)


@pytest.mark.parametrize("case", vectors("malformed"), ids=lambda case: case["code"])
def test_a_malformed_event_is_refused_where_it_is_wrong(case: Any) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        decode_event(case["value"])

    assert (refused.value.code, refused.value.pointer) == (case["code"], case["pointer"])


def test_keys_are_converted_or_refused() -> None:
    for case in vectors("keys", "key"):
        assert convert_key(case["key"]) == case["converted"]
    for case in vectors("keys", "value"):
        assert convert_keys(case["value"]) == (case["converted"], case["changed"])
    for case in vectors("keys", "refused"):
        with pytest.raises(RemoteProtocolError) as refused:
            check_keys(case["value"])
        assert (refused.value.code, refused.value.pointer) == (case["code"], case["pointer"])


def test_other_formats_are_converted_without_loss() -> None:
    for case in vectors("conversion", "record"):
        assert equal_json(convert_record(case["text"].encode()), case["value"])
    for case in vectors("conversion", "tool_input"):
        assert equal_json(dict(tool_value(case["text"])), case["members"])


@pytest.mark.parametrize("case", vectors("visibility"), ids=lambda case: case["name"])
def test_the_public_gets_its_part(case: Any) -> None:
    if "message" in case:
        assert visible_message("public", case["message"]) == case["public"]
        return
    state, shown = ConversationState(), []
    for event in map(decode_event, case["owner_events"]):
        seen = visible_event("public", event, state)
        shown += [] if seen is None else [{**event_members(seen), "prev_seq": 0}]
        state = apply(state, event)

    # What comes before an event in this view, no event knows by itself.
    assert shown == [{**event, "prev_seq": 0} for event in case["public_events"]]
    assert equal_json(spelled(fold(case["public_events"])), case["public_state"])


def test_neighbouring_deltas_are_merged_and_cut() -> None:
    for case in vectors("merging", "merge"):
        entries = merge_entries(Merged(decode_event(event)) for event in case["events"])
        found: list[Any] = [
            {"event": event_members(it.event), "pairs": [list(pair) for pair in it.pairs]}
            for it in entries
        ]
        assert encode_json(found) == encode_json(case["merged"])
        merged = [record["event"] for record in case["merged"]]
        assert equal_json(spelled(fold(merged)), spelled(fold(case["events"])))
    for case in vectors("merging", "cut"):
        event: Any = decode_event(case["event"])
        cut = cut_merged(event, tuple(map(tuple, case["pairs"])), case["cursor"])
        assert (None if cut is None else event_members(cut)) == case["sent"]


def test_ends_tidy_up() -> None:
    for case in vectors("endings"):
        turn = fold(case["events"]).running["turn_1"]
        events = end_turn(
            turn, case["status"], block=case["block"], finish_reason=case["finish_reason"]
        )
        assert [event_members(event) for event in events] == case["then"]
