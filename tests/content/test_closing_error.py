"""The error that tells a reader why a turn failed."""

import pytest

from blockwire.content.settle import closing_error
from blockwire.jsontext import Json
from tests.content.words import TURN, advanced, block, done, prose, turn


@pytest.mark.parametrize(
    ("blocks", "error"),
    [
        ([], None),
        ([prose(), done()], None),
        (
            [block("e1", "error", code="first", message="One."), done("e1")],
            {"code": "first", "message": "One.", "retryable": False},
        ),
        (
            [
                block("e1", "error", code="first", message="One."),
                done("e1"),
                block("e2", "error", code="last", message="Two.", retryable=True),
                done("e2"),
                prose(),
            ],
            {"code": "last", "message": "Two.", "retryable": True},
        ),
    ],
)
def test_the_last_error_block_says_why(blocks: list[object], error: dict[str, Json] | None) -> None:
    state = advanced(turn(), *blocks)  # type: ignore[arg-type]

    assert closing_error(state.running[TURN]) == error
