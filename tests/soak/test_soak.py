"""The soak in ten seconds: everything happens once or more, and nothing goes wrong."""

from __future__ import annotations

import sys

import pytest

from tests.soak.server import Server
from tests.soak.soak import soak
from tests.soak.world import Plan

DURATION_S = 10.0


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.skipif(sys.platform != "linux", reason="measures processes through /proc")
def test_a_gateway_under_everything_at_once_loses_and_doubles_nothing() -> None:
    report = soak(Plan(conversations=8, readers=30, rate_per_s=20, duration_s=DURATION_S, seed=7))

    assert not report.faults, report.examples
    assert report.counts["events read"] > 1_000
    assert report.counts["spot checks"] > 10
    assert report.counts["turns"] > 10
    assert report.counts["broken uploads"] > 0
    assert report.counts["began inside a merged delta"] > 0
    assert report.latencies_ms


def test_a_log_line_that_tells_of_trouble_is_a_complaint(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    server = Server(tmp_path_factory.mktemp("soak"))
    server.log.write_text("all well\n1 ERROR blockwire: refused\n", encoding="utf-8")

    assert server.complaints() == ["1 ERROR blockwire: refused"]
