"""The reducer in TypeScript makes of every event what ours makes of it, in Node and in Chromium."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from blockwire.jsontext import decode_json
from tests.web.agreement import (
    bundle_comparison,
    compare_in_chromium,
    compare_in_node,
    missing_tool,
)
from tests.web.scripts import scripts

COUNT: Final = 500
COUNT_FULL: Final = int(os.environ.get("REDUCER_SCRIPTS", "10000"))

# Each is read several times; so many are kept, some 30 MB.
_KEPT_MAX: Final = 2_000
_kept: list[bytes] = []

COMPARISONS: Final = {"node": compare_in_node, "chromium": compare_in_chromium}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require("node")
    return bundle_comparison(tmp_path_factory.mktemp("core"))


def require(runtime: str) -> None:
    """Skip with the reason where the machine lacks something; fail in CI."""
    lacking = missing_tool(runtime)
    if lacking is None:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(lacking, pytrace=False)
    pytest.skip(lacking)


@pytest.mark.exhaustive
@pytest.mark.parametrize("runtime", COMPARISONS)
def test_the_reducers_agree(runtime: str, bundle: Path) -> None:
    assert_they_agree(runtime, bundle, COUNT)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("runtime", COMPARISONS)
def test_the_reducers_agree_about_very_many_scripts(runtime: str, bundle: Path) -> None:
    assert_they_agree(runtime, bundle, COUNT_FULL)


def written(count: int) -> Iterator[bytes]:
    """Yield ``scripts(count)``, of which those that were made before are not made again."""
    yield from _kept[:count]
    for number in range(len(_kept), count):
        (line,) = scripts(1, number)
        if number == len(_kept) < _KEPT_MAX:
            _kept.append(line)
        yield line


def assert_they_agree(runtime: str, bundle: Path, count: int) -> None:
    require(runtime)
    verdict = COMPARISONS[runtime](bundle, written(count))

    assert verdict["differences"] == []
    assert verdict["scripts"] == count
    # Enough of each kind came: refusals do not hide that nothing was applied, nor the other way.
    assert verdict["refused"] > 5 * count
    assert verdict["events"] - verdict["refused"] > 5 * count
    assert verdict["states"] > count


@pytest.mark.exhaustive
def test_a_reducer_that_differs_is_told(bundle: Path) -> None:
    script = b'{"seed":1,"steps":[["{}",null,null]],"texts":[],"more_before":null}\n'

    verdict = compare_in_node(bundle, [script])

    assert len(verdict["differences"]) == 1


@pytest.mark.exhaustive
def test_the_scripts_hold_every_refusal_and_much_that_is_right() -> None:
    told: Counter[Any] = Counter()
    for line in written(COUNT):
        script: Any = decode_json(line)
        for _text, refusal, _state in script["steps"]:
            told[None if refusal is None else (refusal[0], refusal[1])] += 1

    assert told[None] > 5 * COUNT
    reducer = {code for where, code in filter(None, told) if where == "reducer"}
    assert reducer >= {
        "block_complete",
        "block_exists",
        "block_not_found",
        "blocks_open",
        "field_not_mutable",
        "message_exists",
        "sequence_gap",
        "tool_not_finished",
        "tool_status_regression",
        "turn_exists",
        "turn_not_found",
        "turn_not_suspended",
        "turn_suspended",
        "turn_terminal",
    }
    codec = {code for where, code in filter(None, told) if where == "codec"}
    assert codec >= {
        "block_exists",
        "field_not_mutable",
        "invalid_enum",
        "invalid_event",
        "invalid_key",
        "invalid_member",
        "invalid_name",
        "message_exists",
        "missing_member",
        "turn_exists",
    }
    json = {code for where, code in filter(None, told) if where == "json"}
    assert json == {
        "duplicate_member",
        "invalid_json",
        "invalid_unicode",
        "nesting_too_deep",
        "number_out_of_range",
    }


def test_the_same_seed_makes_the_same_script() -> None:
    assert list(scripts(20, 7)) == list(scripts(20, 7))
