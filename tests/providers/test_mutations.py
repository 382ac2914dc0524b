"""No damage makes a decoder raise, hang a turn, or call a cut tool complete."""

import random
from importlib.resources import files

import pytest

from blockwire.providers import parse_recording
from tests.providers.compare import decode
from tests.providers.mutations import FAMILIES, Seed, attack, events_of, judge, judge_cut
from tests.providers.samples import SAMPLES, Sample
from tests.suites import suite_json, suites_root

FAMILY = pytest.mark.parametrize("family", sorted(FAMILIES))
EACH = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.api} {sample.name}")


def seeds_of(family: str) -> list[Seed]:
    """Return our samples and recordings of a family, and those of the suite where it is present."""
    seeds = [Seed(sample.api, sample.body) for sample in SAMPLES]
    for entry in files("blockwire").joinpath("recordings").iterdir():
        if not entry.name.endswith(".md"):
            recording = parse_recording(entry.read_bytes(), entry.name)
            seeds.append(Seed(recording.api, b"".join(piece for _, piece in recording.chunks)))
    # Without the suite our own are enough; test_stream_suite says that it is missing.
    index = suites_root() / "streams" / "index.json"
    for case in suite_json("streams/index.json") if index.exists() else []:
        body = (index.parent / case["file"]).read_bytes()
        seeds.append(Seed(case["api"], body))
    return [seed for seed in seeds if seed.api in FAMILIES[family]]


@pytest.mark.requirement(
    "providers:decoder:never-raises", "providers:decoder:one-end", "providers:ends:one-error"
)
@FAMILY
def test_damaged_streams_end_well(family: str) -> None:
    assert attack(seeds_of(family), count=50, seed=0) == 50


@pytest.mark.exhaustive
@pytest.mark.timeout(120)
@FAMILY
def test_hundreds_of_damaged_streams_end_well(family: str) -> None:
    assert attack(seeds_of(family), count=300, seed=1) == 300


@pytest.mark.slow
@pytest.mark.timeout(600)
@FAMILY
def test_thousands_of_damaged_streams_end_well(family: str) -> None:
    assert attack(seeds_of(family), count=5_000, seed=2) == 5_000


@pytest.mark.exhaustive
@pytest.mark.timeout(120)
@EACH
def test_a_sample_cut_after_any_byte_is_never_taken_for_the_whole(sample: Sample) -> None:
    whole = decode(sample.api, [sample.body])

    for length in range(len(sample.body)):
        cut = decode(sample.api, [sample.body[:length]])
        assert judge_cut(whole, cut) == [], length


@pytest.mark.requirement("providers:calls:pending")
@FAMILY
def test_a_stream_cut_anywhere_is_never_taken_for_the_whole(family: str) -> None:
    chance = random.Random(3)
    for seed in seeds_of(family):
        whole = decode(seed.api, [seed.body])
        for _ in range(8):
            length = chance.randrange(len(seed.body))
            cut = decode(seed.api, [seed.body[:length]])
            assert judge_cut(whole, cut) == [], (seed.body[:60], length)


@FAMILY
def test_noise_ends_as_a_truncated_turn(family: str) -> None:
    chance = random.Random(4)
    for api in FAMILIES[family]:
        for length in (0, 1, 10, 1_000):
            decoded = decode(api, [chance.randbytes(length)])

            assert judge(decoded) == []
            assert decoded.ended.status == "failed"


def test_damage_is_seen_by_the_judge() -> None:
    sample = SAMPLES[1]
    whole = decode(sample.api, [sample.body])
    half = b"".join(events_of(sample.body)[:-4])

    cut = decode(sample.api, [half])

    assert judge(whole) == []
    assert judge_cut(whole, cut) == []
    assert judge_cut(cut, whole) != []
