"""Rows and segments find each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from blockwire.screen import Place
from blockwire.screen.heights import GONE_MIN, Heights

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 5)),
        st.tuples(st.just("set"), st.integers(0, 99), st.integers(0, 5)),
        st.tuples(st.just("drop")),
    ),
    max_size=60,
)


@given(STEPS)
def test_heights_are_those_of_a_list(steps: list[tuple[str, int, int]]) -> None:
    heights, model, first = Heights(), dict[int, int](), 0
    for name, *numbers in steps:
        if name == "append":
            model[heights.end_id] = numbers[0]
            heights.append(numbers[0])
        elif model and name == "set":
            segment_id = first + numbers[0] % len(model)
            model[segment_id] = numbers[1]
            heights.set_height(segment_id, numbers[1])
        elif model:
            del model[first]
            heights.drop_first()
            first += 1

    assert (heights.first_id, heights.end_id) == (first, first + len(model))
    assert heights.total_rows == sum(model.values())
    rows = [Place(key, row) for key, height in model.items() for row in range(height)]
    assert [heights.place_of(row) for row in range(len(rows))] == rows
    for key in model:
        assert heights.height(key) == model[key]
        assert heights.rows_before(key) == sum(h for other, h in model.items() if other < key)


def test_what_is_gone_is_forgotten_now_and_then() -> None:
    heights = Heights()
    for number in range(3 * GONE_MIN):
        heights.append(number % 3)

    for _ in range(2 * GONE_MIN):
        heights.drop_first()
    heights.append(7)

    assert (heights.first_id, heights.end_id) == (2 * GONE_MIN, 3 * GONE_MIN + 1)
    assert heights.total_rows == sum(number % 3 for number in range(2 * GONE_MIN, 3 * GONE_MIN)) + 7
    assert heights.place_of(heights.total_rows - 1) == Place(3 * GONE_MIN, 6)
    assert len(heights._sums) < 2 * GONE_MIN  # what is forgotten is seen nowhere else
