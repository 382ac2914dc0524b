"""What a person types as an answer, to every kind of request."""

from __future__ import annotations

from typing import Any

import pytest

from blockwire.content.answers import read_answer, request_options
from blockwire.errors import LocalProtocolError

ANSWERS: list[tuple[dict[str, Any], str, Any]] = [
    ({"kind": "approval"}, " Yes ", True),
    ({"kind": "approval"}, "n", False),
    ({"kind": "approval", "options": []}, "ok", True),
    ({"kind": "approval", "options": ["once", "always"]}, "2", "always"),
    ({"kind": "approval", "options": ["once", "always"]}, "yes", "yes"),
    ({"kind": "question"}, "a b", "a b"),
    ({"kind": "question"}, "1", "1"),
    ({"kind": "question", "options": [{"id": 1}]}, "1", {"id": 1}),
    ({"kind": "question", "options": ["x"]}, "2", "2"),
    ({"kind": "question", "options": ["x"]}, "1" * 5_000, "1" * 5_000),
    ({"kind": "question", "options": "odd"}, "1", "odd"),
]
REFUSALS: list[tuple[dict[str, Any], str, str]] = [
    ({"kind": "approval"}, "perhaps", "answer yes or no"),
    ({"kind": "approval"}, "1", "answer yes or no"),
    ({"kind": "question"}, " ", "the answer is empty"),
]


@pytest.mark.parametrize(("request_", "text", "answer"), ANSWERS)
def test_what_is_typed_becomes_an_answer(request_: dict[str, Any], text: str, answer: Any) -> None:
    assert read_answer(request_, text) == answer


@pytest.mark.parametrize(("request_", "text", "detail"), REFUSALS)
def test_what_is_no_answer_says_what_would_be_one(
    request_: dict[str, Any], text: str, detail: str
) -> None:
    with pytest.raises(LocalProtocolError) as refused:
        read_answer(request_, text)
    assert (refused.value.code, refused.value.detail) == ("unusable_answer", detail)


def test_a_single_option_is_a_list_of_one() -> None:
    assert request_options({}) == []
    assert request_options({"options": "odd"}) == ["odd"]
