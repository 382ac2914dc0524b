"""Judges of terminals and applications: they run a program, and look at nothing but its bytes.

Spec: docs/spec/terminal/tools.md. This room sees nothing of ``terminal``, ``tty`` or ``host``: it has
readers and tables of its own, so that one mistake cannot hide in both.
"""

from blockwire.conform.application import RUN_S, judge_application
from blockwire.conform.scenarios import REQUIREMENTS, SCENARIOS
from blockwire.conform.terminal import ANSWER_S, judge_terminal
from blockwire.conform.vectors import Case, choose_cases, load_cases, vectors_folder
from blockwire.conform.verdicts import (
    Finding,
    Outcome,
    Verdict,
    collect,
    junit_xml,
    report_lines,
)

__all__ = [
    "ANSWER_S",
    "REQUIREMENTS",
    "RUN_S",
    "SCENARIOS",
    "Case",
    "Finding",
    "Outcome",
    "Verdict",
    "choose_cases",
    "collect",
    "judge_application",
    "judge_terminal",
    "junit_xml",
    "load_cases",
    "report_lines",
    "vectors_folder",
]
