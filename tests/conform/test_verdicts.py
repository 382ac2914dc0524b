"""Findings become verdicts, and verdicts become text and JUnit XML."""

from xml.etree import ElementTree as ET

from blockwire.conform import Finding, collect, junit_xml, report_lines

FINDINGS = [
    Finding("b:two", "file: one", "pass"),
    Finding("b:two", "file: two", "fail", "expected \x1b[2J <this> & \x00 that"),
    Finding("a:one", "file: three", "not judged", "it needs a host"),
    Finding("c:three", "file: four", "not judged", "it needs a host"),
    Finding("c:three", "file: five", "pass"),
]


def test_a_requirement_fails_with_one_case_and_is_judged_with_one() -> None:
    verdicts = collect(FINDINGS)

    assert [(it.requirement, it.outcome) for it in verdicts] == [
        ("a:one", "not judged"),
        ("b:two", "fail"),
        ("c:three", "pass"),
    ]
    assert [(it.passed_count, it.judged_count) for it in verdicts] == [(0, 0), (1, 2), (1, 1)]


def test_the_report_has_a_line_for_each_and_says_why_and_nothing_in_it_acts() -> None:
    lines = list(report_lines(collect(FINDINGS)))

    assert lines[0] == "  -   a:one    it needs a host"
    assert lines[1] == "FAIL  b:two    1 of 2"
    assert lines[2] == "      file: two: expected ␛[2J <this> & ␀ that"
    assert lines[3] == "pass  c:three  1 of 1"
    assert lines[4] == "1 passed, 1 failed, 1 not judged (requirements)"


def test_many_failures_are_counted_not_shown() -> None:
    findings = [Finding("a", f"case {number}", "fail", "x" * 2_000) for number in range(9)]

    lines = list(report_lines(collect(findings)))

    assert lines[4] == "      and 6 more"
    assert max(map(len, lines)) < 700


def test_junit_xml_is_well_formed_whatever_a_program_wrote() -> None:
    suite = ET.fromstring(junit_xml("conform", collect(FINDINGS)))

    assert suite.attrib == {
        "name": "conform", "tests": "3", "failures": "1", "errors": "0", "skipped": "1",
    }  # fmt: skip
    skipped, failed, passed = suite
    assert (passed.attrib["name"], len(passed)) == ("c:three", 0)
    assert skipped[0].tag == "skipped"
    assert (failed[0].tag, failed[0].attrib["message"]) == ("failure", "file: two")
    assert failed[0].text == "expected ␛[2J <this> & ␀ that"
