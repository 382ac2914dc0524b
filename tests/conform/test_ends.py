"""Both of our ends pass, programs that have nothing of ours pass, and every mistake is found."""

import ast
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import pytest

import blockwire.conform
from blockwire.conform import (
    REQUIREMENTS,
    SCENARIOS,
    Verdict,
    choose_cases,
    judge_application,
    judge_terminal,
    load_cases,
)
from blockwire.errors import LocalProtocolError
from tests.conform.mutants.table import ALLOWED, APPLICATION, TERMINAL
from tests.spec.requirements import stated
from tests.suites import PROJECT, handed_vectors, suites_root
from tests.support.programs import command, environment

pytestmark = pytest.mark.timeout(180)

MUTANTS: Final = Path(__file__).with_name("mutants")
BARE: Final = [sys.executable, "-S", "-E"]
SMALL_TERMINAL: Final = [*BARE, str(MUTANTS / "small_terminal.py")]
SMALL_APPLICATION: Final = [*BARE, str(MUTANTS / "small_application.py")]
ENV: Final = {"PATH": os.environ.get("PATH", "")}
CASES: Final = load_cases()
MUTANT_S: Final = 5.0
"""Some wait for ever for answers that they must not ask for."""


def failures(verdicts: Iterable[Verdict]) -> dict[str, str]:
    return {
        verdict.requirement: next(it.detail for it in verdict.findings if it.outcome == "fail")
        for verdict in verdicts
        if verdict.outcome == "fail"
    }


def passed(verdicts: Sequence[Verdict]) -> set[str]:
    return {verdict.requirement for verdict in verdicts if verdict.outcome == "pass"}


@pytest.mark.slow
def test_our_terminal_side_passes(tmp_path: Path) -> None:
    verdicts = judge_terminal(command("endpoint", "--tty"), env=environment(tmp_path), cases=CASES)

    assert failures(verdicts) == {}
    assert len(passed(verdicts)) > 90


@pytest.mark.slow
def test_a_terminal_that_has_nothing_of_ours_passes() -> None:
    verdicts = judge_terminal(SMALL_TERMINAL, env=ENV, cases=CASES)

    assert failures(verdicts) == {}
    assert len(passed(verdicts)) > 80


def test_a_part_of_the_cases_says_the_same_of_it() -> None:
    few = [case for number, case in enumerate(CASES) if number % 9 == 0 or case.file == "session"]

    verdicts = judge_terminal(SMALL_TERMINAL, env=ENV, cases=few)

    assert failures(verdicts) == {}
    assert len(passed(verdicts)) > 50


@pytest.mark.slow
def test_our_terminal_side_passes_the_handed_vectors_too(tmp_path: Path) -> None:
    handed_vectors("session.jsonl")
    folder = suites_root().parent / "vectors" / "terminal"

    verdicts = judge_terminal(
        command("endpoint", "--tty"), env=environment(tmp_path), cases=load_cases(folder)
    )

    assert failures(verdicts) == {}
    assert sum(verdict.judged_count for verdict in verdicts) > 350


@pytest.mark.slow
def test_our_application_side_passes(tmp_path: Path) -> None:
    example = [sys.executable, str(PROJECT / "docs" / "examples" / "terminal_blocks.py")]

    verdicts = judge_application(example, env=environment(tmp_path))

    assert failures(verdicts) == {}
    assert len(passed(verdicts)) > 15


@pytest.mark.slow
def test_an_application_that_has_nothing_of_ours_passes_everything() -> None:
    verdicts = judge_application(SMALL_APPLICATION, env=ENV)

    assert failures(verdicts) == {}
    assert passed(verdicts) == set(REQUIREMENTS.values())


FEW: Final = ("supported", "no Context", "a state does not match", "TERM is linux")


@pytest.mark.parametrize(
    ("defects", "scripts"),
    [
        ((), (*FEW, "supported, byte by byte", "both too late", "in time over ssh")),
        (("ends-frames-with-bel", "repeats-operation-ids"), FEW[:1]),
        (("never-heals",), FEW[2:3]),
        (("heals-with-other-text",), (*FEW, "supported, byte by byte")),
        (("asks-in-two-writes",), ("unsupported", "an error", "attributes alone")),
        (("shows-nothing", "leaves-modes"), ("an error",)),
        (("hurries-over-ssh",), ("in time over ssh",)),
    ],
    ids=lambda it: "-".join(it) if it and it[0] not in SCENARIOS else "",
)
def test_a_part_of_the_scripts_tells_right_from_wrong(
    defects: tuple[str, ...], scripts: tuple[str, ...]
) -> None:
    verdicts = judge_application([*SMALL_APPLICATION, *defects], env=ENV, scripts=scripts)

    assert bool(failures(verdicts)) == bool(defects)


@pytest.mark.parametrize("habit", ALLOWED)
def test_what_no_page_demands_of_every_program_is_not_held_against_one(habit: str) -> None:
    verdicts = judge_application([*SMALL_APPLICATION, habit], env=ENV, scripts=["supported"])

    assert failures(verdicts) == {}
    assert len(passed(verdicts)) > 10


def test_a_terminal_may_name_its_contexts_as_the_vectors_name_others() -> None:
    few = [case for case in CASES if "nowhere" in str(case.row)]

    verdicts = judge_terminal([*SMALL_TERMINAL, "names-contexts-as-others"], env=ENV, cases=few)

    assert failures(verdicts) == {}
    assert passed(verdicts)


@pytest.mark.slow
@pytest.mark.parametrize(("defect", "requirement"), TERMINAL.items(), ids=TERMINAL)
def test_a_wrong_terminal_fails_on_its_own_requirement(defect: str, requirement: str) -> None:
    cases = choose_cases(CASES, [requirement])

    verdicts = judge_terminal([*SMALL_TERMINAL, defect], env=ENV, cases=cases)

    assert [(it.requirement, it.outcome) for it in verdicts] == [(requirement, "fail")]


@pytest.mark.slow
@pytest.mark.parametrize(("defect", "row"), APPLICATION.items(), ids=APPLICATION)
def test_a_wrong_application_fails_on_its_own_requirement(
    defect: str, row: tuple[str, ...]
) -> None:
    requirement, *scripts = row

    verdicts = judge_application(
        [*SMALL_APPLICATION, defect], env=ENV, scripts=scripts, run_s=MUTANT_S
    )

    assert requirement in failures(verdicts)


@pytest.mark.parametrize(
    "program", [SMALL_TERMINAL, SMALL_APPLICATION], ids=["terminal", "application"]
)
def test_every_mistake_in_the_table_has_its_switch(program: list[str]) -> None:
    table = TERMINAL if program is SMALL_TERMINAL else (*APPLICATION, *ALLOWED)
    text = Path(program[-1]).read_text(encoding="utf-8").replace("'", '"')

    assert [defect for defect in table if f'has("{defect}")' not in text] == []
    assert len(TERMINAL) + len(APPLICATION) >= 40
    assert {script for _id, *scripts in APPLICATION.values() for script in scripts} <= set(
        SCENARIOS
    )


@pytest.mark.requirement("terminal:tool:wire-only")
def test_the_runner_imports_nothing_of_what_it_judges() -> None:
    folder = Path(blockwire.conform.__file__).parent
    imported = {
        node.module or ""
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
    }

    own = {name.split(".")[1] for name in imported if name.startswith("blockwire.")}
    assert own == {"conform", "errors", "jsontext", "text"}


def test_every_requirement_that_is_judged_is_stated() -> None:
    known = {name for statement in stated() for name in statement.requirement_ids}
    judged = {name for case in CASES for name in case.requirements} | set(REQUIREMENTS.values())

    assert sorted(judged - known) == []


def test_a_program_that_answers_nothing_is_given_up_soon() -> None:
    gone = [sys.executable, "-S", "-E", "-c", "pass"]

    verdicts = judge_terminal(gone, env=ENV, cases=CASES[:40])

    details = [finding.detail for verdict in verdicts for finding in verdict.findings]
    assert set(details) == {"the program ended", "not tried: the program does not answer"}
    assert details.count("the program ended") == 2


def test_an_application_that_asks_nothing_is_told_so() -> None:
    silent = [sys.executable, "-S", "-E", "-c", "print('hello')"]

    verdicts = judge_application(silent, env=ENV, scripts=["supported"])

    assert failures(verdicts) == {REQUIREMENTS["query"]: "no query came"}


@pytest.mark.parametrize("judge", [judge_terminal, judge_application])
def test_a_program_that_is_not_there_is_an_error(judge: object) -> None:
    assert callable(judge)
    with pytest.raises(LocalProtocolError) as refused:
        judge(["/no/such/program"], env=ENV)

    assert refused.value.code == "program_not_started"
