"""What a user installs works: the wheel, in an environment that has nothing of ours but the lock."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import pytest

import blockwire
from blockwire.conform import load_cases
from tests.suites import PROJECT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def run(*command: str | Path, cwd: Path) -> str:
    """Return what one command printed; it gets no variable that leads back to this tree."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }
    environment["XDG_DATA_HOME"] = str(cwd / "data")
    ended = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, f"{command}: {ended.stdout}{ended.stderr}"
    return ended.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=PROJECT)
    (path,) = folder.glob("blockwire-*-py3-none-any.whl")
    return path


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` of an environment that holds the wheel and what the lock says, nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "environment", cwd=folder)
    pip = (folder / "environment" / "bin" / "python", "-m", "pip", "install", "--quiet")
    lock = PROJECT / "requirements" / "run.lock"
    run(*pip, "--require-hashes", "-r", lock, cwd=folder)
    run(*pip, "--no-deps", "--no-index", wheel, cwd=folder)
    return folder / "environment" / "bin"


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    source = PROJECT / "src"
    packaged = {
        path.relative_to(source).as_posix()
        for path in (source / "blockwire").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    # What `blockwire conform` runs is made elsewhere; the wheel has it beside the runner.
    vectors = {
        f"blockwire/conform/vectors/{path.name}"
        for path in (PROJECT / "vectors" / "terminal").iterdir()
    }
    assert {name for name in names if ".dist-info/" not in name} == packaged | vectors
    assert "blockwire/py.typed" in names


def test_the_lock_holds_everything_that_the_wheel_asks_for(programs: Path, tmp_path: Path) -> None:
    assert "No broken requirements" in run(programs / "python", "-m", "pip", "check", cwd=tmp_path)


def test_the_demo_runs_from_the_wheel(programs: Path, tmp_path: Path) -> None:
    shown = run(programs / "blockwire", "demo", "--speed", "0", "--plain", cwd=tmp_path)

    assert "turn_interrupted" in shown


def test_the_vectors_come_with_the_wheel(programs: Path, tmp_path: Path) -> None:
    code = "import blockwire.conform as it; print(it.vectors_folder().name, len(it.load_cases()))"

    shown = run(programs / "python", "-c", code, cwd=tmp_path)

    assert shown.split() == ["vectors", str(len(load_cases()))]


@pytest.mark.requirement("page:build:wheel")
def test_what_is_installed_serves_the_page(programs: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [programs / "blockwire", "serve", "--port", "0", "--store", f"sqlite:///{tmp_path}/x.db"],
        cwd=tmp_path,
        env={"PATH": os.defpath, "HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().decode().partition("listening on ")[2].strip()
        page = httpx.get(f"{url}/c/conv_1", headers={"accept": "text/html"})
        script = httpx.get(url + re.findall(r'src="([^"]+)"', page.text)[0])
        capabilities = httpx.get(f"{url}/v1/capabilities").json()
    finally:
        process.kill()
        process.communicate()

    static = PROJECT / "src" / "blockwire" / "web" / "static"
    assert page.text == (static / "index.html").read_text(encoding="utf-8")
    assert script.status_code == 200
    # The extra is not installed there.
    assert capabilities["previews"] is False


def test_the_package_runs_as_a_module(programs: Path, tmp_path: Path) -> None:
    shown = run(programs / "python", "-m", "blockwire", "--version", cwd=tmp_path)

    assert blockwire.__version__ in shown
