"""The crash harness itself: it passes on what is shipped, and it can fail.

``make crash`` is the long form.
"""

import pytest

from tests.crash.harness import execute, plan

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SEED = 7
RUNS = [*range(9), 18, 19]


@pytest.mark.parametrize("number", RUNS)
def test_nothing_seen_or_acknowledged_is_lost_whenever_the_gateway_dies(number: int) -> None:
    assert execute(plan(number, SEED), is_reversed=False) == []


def test_a_build_that_publishes_before_it_commits_is_found_out() -> None:
    # Which runs hit the moment in between is a matter of luck; one of so many does.
    assert any(execute(plan(number, SEED), is_reversed=True) for number in range(40))
