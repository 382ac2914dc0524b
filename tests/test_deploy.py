"""The files of ``deploy``: what systemd and a container linter say, and that they fit the program."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from blockwire.cli.settings import ENV_PREFIX, SETTINGS
from blockwire.gateway.access.auth import hash_token
from tests.suites import PROJECT
from tests.support.programs import Gateway, environment, run

DEPLOY = PROJECT / "deploy"
UNIT = DEPLOY / "blockwire.service"
CONTAINER = DEPLOY / "Containerfile"
EXPOSURE_MAX = 20
"""Of a hundred; services of a distribution have 60 to 96."""


def unit_value(name: str) -> str:
    match = re.search(rf"^{name}=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE)
    assert match is not None, name
    return match[1]


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit, with a program that exists on this machine."""
    text = UNIT.read_text(encoding="utf-8")
    program = unit_value("ExecStart").split()[0]
    path = tmp_path / UNIT.name
    path.write_text(text.replace(program, sys.executable), encoding="utf-8")
    return path


def systemd_analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    return subprocess.run(
        ["systemd-analyze", *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.mark.timeout(60)
def test_systemd_finds_nothing_wrong_with_the_unit(unit: Path) -> None:
    checked = systemd_analyze("verify", "--man=no", str(unit))

    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


@pytest.mark.timeout(60)
def test_the_service_is_shut_in(unit: Path) -> None:
    rated = systemd_analyze(
        "security", "--offline=yes", f"--threshold={EXPOSURE_MAX}", "--no-pager", str(unit)
    )

    assert rated.returncode == 0, rated.stdout[-300:]


def test_the_unit_calls_the_program_as_it_is(tmp_path: Path) -> None:
    words = shlex.split(unit_value("ExecStart"))

    shown = run(words[1], "--help", env=environment(tmp_path)).stdout.decode()

    assert words[1] == "serve"
    assert [word for word in words if word.startswith("--") and word not in shown] == []
    assert int(unit_value("TimeoutStopSec")) > int(str(SETTINGS["stop_s_max"].default)) + 5
    assert unit_value("Type") == "notify"
    assert "HUP" in unit_value("ExecReload")


def test_the_examples_of_variables_set_something() -> None:
    text = (DEPLOY / "env.example").read_text(encoding="utf-8")
    names = re.findall(
        rf"^#?({ENV_PREFIX}[A-Z_]+)=", text + UNIT.read_text(encoding="utf-8"), re.MULTILINE
    )
    names += re.findall(rf"\b({ENV_PREFIX}[A-Z_]+)=", CONTAINER.read_text(encoding="utf-8"))

    known = {ENV_PREFIX + name.upper() for name in SETTINGS}
    assert names
    assert [name for name in names if name not in known] == []


@pytest.mark.timeout(60)
def test_the_linter_finds_nothing_wrong_with_the_container_file() -> None:
    linter = shutil.which("hadolint", path=Path(sys.executable).parent) or shutil.which("hadolint")
    if linter is None:
        pytest.skip("hadolint is not installed: there is none for this platform")
    checked = subprocess.run(
        [linter, "--no-color", str(CONTAINER)], capture_output=True, timeout=30, check=False
    )

    assert (checked.returncode, checked.stdout) == (0, b"")


def test_the_container_is_made_of_the_lock_and_names_no_host() -> None:
    text = CONTAINER.read_text(encoding="utf-8")
    instructions = [line for line in text.split("\n") if line and not line.startswith("#")]

    bases = [line.split()[1] for line in instructions if line.startswith("FROM ")]
    assert all("/" not in base for base in bases), "plain names: the builder knows where they are"
    assert "--require-hashes" in text
    assert not re.search(r"https?://(?!127\.0\.0\.1)", text)
    for line in instructions:
        words = line.split()
        if words[0] == "COPY" and not words[1].startswith("--from"):
            assert (PROJECT / words[1]).exists()
    assert "USER 10001:10001" in text


@pytest.mark.timeout(60)
def test_the_health_check_of_the_container_works(tmp_path: Path) -> None:
    match = re.search(r"^    CMD \[(.*)\]$", CONTAINER.read_text(encoding="utf-8"), re.MULTILINE)
    assert match is not None
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', match[1])
    assert words[0] == "python"
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(
        f'[[tokens]]\nname = "a"\nsha256 = "{hash_token("a")}"\nscopes = ["read"]\n',
        encoding="utf-8",
    )
    tokens.chmod(0o600)
    # As in the container: on all addresses, and asked by the one of loopback.
    arguments = ["--host", "0.0.0.0", "--store", "memory:", "--token-file", "tokens.toml"]
    with Gateway(environment(tmp_path), *arguments, cwd=tmp_path) as gateway:
        env = environment(tmp_path, BLOCKWIRE_PORT=str(gateway.port))
        healthy = subprocess.run([sys.executable, *words[1:]], env=env, timeout=30, check=False)
        assert gateway.stop() == 0
    gone = subprocess.run(
        [sys.executable, *words[1:]], env=env, capture_output=True, timeout=30, check=False
    )

    assert healthy.returncode == 0
    assert gone.returncode != 0
