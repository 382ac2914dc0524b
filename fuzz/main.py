"""Runs the fuzzers in turn and says what they found.

Every attack has a number and draws all it does from the seed and that number, so a failure is
repeated by ``--only NAME --seed S --index I``.
"""

from __future__ import annotations

import argparse
import logging
import random
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct

from fuzz import pure, terminal_session
from fuzz.gateway import GatewayTarget
from fuzz.program_output import emulators, program_output
from fuzz.sockets import SocketTarget
from fuzz.terminal_application import application
from fuzz.terminal_framing import terminal_framing
from fuzz.terminal_input import bindings, terminal_input
from fuzz.terminal_messages import terminal_decode, terminal_json
from tests.providers.mutations import FAMILIES
from tests.providers.mutations import attack as attack_provider
from tests.providers.test_mutations import seeds_of

__all__ = ["main"]

ATTACK_S_MAX: Final = 10
"""CPU time. No input is so large that a linear reader takes longer, however busy the machine is."""

STANDSTILL_S_MAX: Final = 120
"""Time by the clock, for an attack that waits for what does not come."""

PROVIDER_BODIES: Final = 10

Attack = Callable[[random.Random], object]


class Outcome(Struct, frozen=True):
    """What became of one target."""

    name: str
    count: int
    duration_s: float
    failure: str = ""

    @property
    def line(self) -> str:
        """One line for people."""
        rate = self.count / max(self.duration_s, 1e-9)
        verdict = f"FAILED {self.failure}" if self.failure else "passed"
        return f"{self.name:12} {self.count:>9,} attacks {rate:>9,.0f}/s  {verdict}"


def _attack_providers() -> Attack:
    seeds = {family: seeds_of(family) for family in FAMILIES}

    def attack(chance: random.Random) -> None:
        family = chance.choice(list(FAMILIES))
        attack_provider(seeds[family], count=PROVIDER_BODIES, seed=chance.getrandbits(32))

    return attack


def _targets(gateway: GatewayTarget, sockets: SocketTarget) -> dict[str, Attack]:
    return {
        "sse": pure.sse,
        "json": pure.json_door,
        "events": pure.events,
        "keys": pure.keys,
        "merging": pure.merging,
        "lines": pure.delta_lines,
        "markdown": pure.markdown,
        "redactor": pure.redactor,
        "wrapping": pure.wrapping,
        "terminal_session": terminal_session.session,
        "terminal_endpoint": terminal_session.endpoint,
        "providers": _attack_providers(),
        "requests": gateway.requests,
        "uploads": gateway.uploads,
        "wire": sockets.wire,
        "terminal_framing": terminal_framing,
        "terminal_json": terminal_json,
        "terminal_decode": terminal_decode,
        "terminal_application": application,
        "program_output": program_output,
        "emulators": emulators,
        "terminal_input": terminal_input,
        "bindings": bindings,
    }


def _give_up(number: int, frame: Any) -> None:
    del frame
    limit_s = STANDSTILL_S_MAX if number == signal.SIGALRM else ATTACK_S_MAX
    raise TimeoutError(f"an attack took longer than {limit_s} s")


def _run(name: str, attack: Attack, *, seed: int, budget_s: float, index: int | None) -> Outcome:
    started_s = time.monotonic()
    count = 0 if index is None else index
    while True:
        signal.alarm(STANDSTILL_S_MAX)
        signal.setitimer(signal.ITIMER_PROF, ATTACK_S_MAX)
        try:
            attack(random.Random(f"{seed}:{name}:{count}"))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            traceback.print_exc()
            repeat = f"--only {name} --seed {seed} --index {count}"
            failure = f"{type(error).__name__}: {error} (again: {repeat})"
            return Outcome(name, count, time.monotonic() - started_s, failure)
        finally:
            signal.alarm(0)
            signal.setitimer(signal.ITIMER_PROF, 0)
        count += 1
        if index is not None or time.monotonic() - started_s >= budget_s:
            return Outcome(name, count, time.monotonic() - started_s)


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; return 1 when anything was found."""
    signal.signal(signal.SIGALRM, _give_up)
    signal.signal(signal.SIGPROF, _give_up)
    # Refusals are what we want; what is logged about them is not.
    logging.disable(logging.CRITICAL)
    gateway = GatewayTarget()
    sockets = SocketTarget(gateway)
    targets = _targets(gateway, sockets)
    parser = argparse.ArgumentParser(prog="fuzz/run.py", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="of all targets together")
    parser.add_argument("--seed", type=int, default=int(time.time_ns() % 2**31))
    parser.add_argument("--only", action="append", choices=targets, help="may be repeated")
    parser.add_argument("--index", type=int, help="only this attack of the seed")
    options = parser.parse_args(arguments)
    names = options.only or list(targets)
    budget_s = options.minutes * 60 / len(names)
    print(f"seed {options.seed}", flush=True)
    outcomes: list[Outcome] = []
    try:
        for name in names:
            outcome = _run(
                name, targets[name], seed=options.seed, budget_s=budget_s, index=options.index
            )
            outcomes.append(outcome)
            print(outcome.line, flush=True)
    finally:
        sockets.close()
        gateway.close()
    failed = sum(bool(outcome.failure) for outcome in outcomes)
    print(f"{len(outcomes) - failed} passed, {failed} failed")
    return 1 if failed else 0
