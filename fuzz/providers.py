"""Damaged provider streams for as long as asked; every failure prints the body that caused it.

Usage: ``python -m fuzz.providers [--minutes M] [--seed N]``.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Final

from tests.providers.mutations import FAMILIES, attack
from tests.providers.test_mutations import seeds_of

# Bodies between two looks at the clock.
BATCH_COUNT: Final = 100


def main(minutes: float, seed: int) -> int:
    """Attack each family in turn; return how many bodies were decoded.

    Raises:
        AssertionError: A decoder misbehaved; the message holds the body.
    """
    seeds = {family: seeds_of(family) for family in FAMILIES}
    ends_at_s = time.monotonic() + minutes * 60
    count = 0
    while count == 0 or time.monotonic() < ends_at_s:
        for family in FAMILIES:
            count += attack(seeds[family], count=BATCH_COUNT, seed=seed + count)
    return count


def run(arguments: Sequence[str]) -> int:
    """Parse the command line and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    print(f"providers: {main(options.minutes, options.seed)} damaged streams, seed {options.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
