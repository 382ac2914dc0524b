"""The public event-stream cases, at every cut."""

import random
from collections.abc import Iterable
from typing import Any, Final

import pytest

from blockwire.sse import SseDecoder, SseEvent, SseItem
from tests.suites import suite_json, unpacked

CASES: Final[list[dict[str, Any]]] = unpacked(suite_json("sse/cases.json")["cases"])

# Streams of more than about 1,400 bytes are cut at fewer places than all, evenly spread, so that
# this many bytes are read.
BYTES_READ_MAX: Final = 2_000_000


def read(chunks: Iterable[bytes]) -> tuple[list[SseItem], str, int | None]:
    decoder = SseDecoder()
    items = [item for chunk in chunks for item in decoder.receive_data(chunk)]
    items += decoder.receive_eof()
    return items, decoder.last_event_id, decoder.retry_ms


def expected(case: dict[str, Any]) -> tuple[list[SseItem], str, int | None]:
    events: list[SseItem] = [SseEvent(**event) for event in case["events"]]
    return events, case["final_last_event_id"], case["retry_ms"]


def test_the_suite_is_whole() -> None:
    assert len(CASES) == 48


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
class TestEachCase:
    def test_whole(self, case: dict[str, Any]) -> None:
        assert read([bytes.fromhex(case["stream_hex"])]) == expected(case)

    def test_in_its_own_chunks(self, case: dict[str, Any]) -> None:
        chunks = case.get("chunks_hex", [])
        if chunks:
            assert read(map(bytes.fromhex, chunks)) == expected(case)

    def test_byte_by_byte(self, case: dict[str, Any]) -> None:
        stream = bytes.fromhex(case["stream_hex"])
        assert read(stream[i : i + 1] for i in range(len(stream))) == expected(case)

    def test_cut_in_two_anywhere(self, case: dict[str, Any]) -> None:
        stream = bytes.fromhex(case["stream_hex"])
        # An odd step meets every place of a pattern that repeats.
        step = len(stream) ** 2 // BYTES_READ_MAX | 1
        for cut in range(0, len(stream) + 1, step):
            assert read([stream[:cut], b"", stream[cut:]]) == expected(case), cut

    def test_cut_at_random(self, case: dict[str, Any]) -> None:
        stream = bytes.fromhex(case["stream_hex"])
        dice = random.Random(case["id"])
        for _ in range(20):
            cuts = sorted(dice.choices(range(len(stream) + 1), k=5))
            chunks = [
                stream[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)
            ]
            assert read(chunks) == expected(case), cuts


@pytest.mark.requirement("sse:read:no-delay")
def test_an_event_is_not_held_back_until_more_arrives() -> None:
    case = next(case for case in CASES if case["id"] == "chunk-dispatch-not-late")
    first, _ = map(bytes.fromhex, case["chunks_hex"])
    assert SseDecoder().receive_data(first) == expected(case)[0]
