"""Our own small streams give their results whole, byte by byte and as the demo replays them."""

from importlib.resources import files

import pytest

from blockwire.providers import decode_stream, parse_recording
from tests.providers.anthropic_samples import ANTHROPIC
from tests.providers.chat_samples import CHAT
from tests.providers.compare import TURN_ID, complaints, counting_ids, decode, fold, outcome_of
from tests.providers.gemini_samples import GEMINI, OLLAMA
from tests.providers.responses_samples import RESPONSES
from tests.providers.samples import SAMPLES, Sample

EACH = pytest.mark.parametrize(
    "sample",
    [*SAMPLES, *CHAT, *RESPONSES, *ANTHROPIC, *GEMINI, *OLLAMA],
    ids=lambda sample: f"{sample.api} {sample.name}",
)
RECORDINGS = sorted(
    entry.name
    for entry in files("blockwire").joinpath("recordings").iterdir()
    if not entry.name.endswith(".md")
)


@EACH
def test_a_sample_gives_its_result(sample: Sample) -> None:
    decoded = decode(sample.api, [sample.body])

    assert complaints(sample.expected, decoded) == []


@pytest.mark.requirement("providers:decoder:cuts")
@EACH
def test_a_sample_does_not_depend_on_its_cuts(sample: Sample) -> None:
    whole = decode(sample.api, [sample.body])

    for size in (1, 2, 3, 7, 100):
        pieces = [sample.body[i : i + size] for i in range(0, len(sample.body), size)]
        assert decode(sample.api, pieces).events == whole.events


@EACH
def test_line_ends_may_be_any(sample: Sample) -> None:
    crlf = sample.body.replace(b"\n", b"\r\n")

    assert decode(sample.api, [crlf]).events == decode(sample.api, [sample.body]).events


@EACH
def test_the_iterator_yields_what_the_decoder_returns(sample: Sample) -> None:
    new_id = counting_ids()

    events = list(decode_stream(sample.api, [sample.body], turn_id=TURN_ID, new_id=new_id))

    assert events == decode(sample.api, [sample.body]).events
    assert fold(events) == decode(sample.api, [sample.body]).message


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_of_the_demo_is_a_whole_answer(name: str) -> None:
    data = files("blockwire").joinpath("recordings", name).read_bytes()
    recording = parse_recording(data, name)

    decoded = decode(recording.api, [piece for _at_ms, piece in recording.chunks])

    assert outcome_of(decoded) == "completed"
    assert 10_000 < recording.chunks[-1][0] < 60_000
    assert {block["type"] for block in decoded.blocks} <= {"prose", "reasoning", "tool"}
    answer = "".join(block["markdown"] for block in decoded.of_type("prose"))
    assert "```" in answer
    assert "|--" in answer
    assert all(block["status"] == "completed" for block in decoded.of_type("tool"))
