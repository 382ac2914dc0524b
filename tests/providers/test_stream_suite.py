"""Every stream of the public suite gives its expected result, however its bytes are cut."""

import random
from typing import Any

import pytest

from tests.providers.compare import Decoded, complaints, decode
from tests.suites import suite_json, suite_path

EXPECTED: list[dict[str, Any]] = suite_json("streams/expected.json")["expected"]
CASES = pytest.mark.parametrize("case", EXPECTED, ids=lambda case: case["id"])


def body_of(case: dict[str, Any]) -> bytes:
    return suite_path(f"streams/{case['file']}").read_bytes()


def random_cuts(body: bytes, seed: int) -> list[bytes]:
    chance = random.Random(seed)
    cuts = sorted(chance.choices(range(len(body) + 1), k=chance.randint(1, 40)))
    return [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]


@pytest.mark.requirement("providers:decoder:suite")
@CASES
def test_a_stream_gives_its_expected_result(case: dict[str, Any]) -> None:
    decoded = decode(case["api"], [body_of(case)])

    assert complaints(case, decoded) == []


@pytest.mark.requirement("providers:decoder:cuts")
@CASES
def test_the_events_do_not_depend_on_how_the_bytes_were_cut(case: dict[str, Any]) -> None:
    body = body_of(case)
    whole = decode(case["api"], [body])

    assert same(whole, decode(case["api"], [body[i : i + 1] for i in range(len(body))]))
    for seed in range(5):
        assert same(whole, decode(case["api"], random_cuts(body, seed)))


def same(left: Decoded, right: Decoded) -> bool:
    return left.events == right.events and left.message == right.message
