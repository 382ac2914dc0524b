"""The shared sequence behaves like a tuple that is cheap to lengthen."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule

from blockwire.content import AppendLog


class LogComparison(RuleBasedStateMachine):
    """Every log ever made stays equal to the tuple that was made with it."""

    logs = Bundle("logs")

    @rule(target=logs, items=st.lists(st.integers(), max_size=3))
    def make(self, items: list[int]) -> tuple[AppendLog[int], tuple[int, ...]]:
        return AppendLog(items), tuple(items)

    @rule(target=logs, pair=logs, item=st.integers())
    def append(
        self, pair: tuple[AppendLog[int], tuple[int, ...]], item: int
    ) -> tuple[AppendLog[int], tuple[int, ...]]:
        log, items = pair
        return log.append(item), (*items, item)

    @rule(pair=logs, start=st.integers(0, 5))
    def agrees(self, pair: tuple[AppendLog[int], tuple[int, ...]], start: int) -> None:
        log, items = pair
        assert tuple(log) == items
        assert len(log) == len(items)
        assert tuple(log.since(min(start, len(items)))) == items[start:]
        assert [log[index] for index in range(-len(items), len(items))] == list(items + items)


TestLogComparison = LogComparison.TestCase


@pytest.mark.parametrize("index", [2, -3])
def test_what_a_longer_log_holds_is_out_of_range_for_a_shorter_one(index: int) -> None:
    log = AppendLog([1, 2])
    log.append(3)

    with pytest.raises(IndexError):
        log[index]


def test_successive_logs_share_their_items_and_a_branch_copies_them() -> None:
    trunk = AppendLog([1])

    longer, branch = trunk.append(2), trunk.append(3)

    assert longer._items is trunk._items
    assert branch._items is not trunk._items
    assert (list(trunk), list(longer), list(branch)) == ([1], [1, 2], [1, 3])
