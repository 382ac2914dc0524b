"""The core as a package: packed, installed elsewhere without a network, and used as its README says."""

from __future__ import annotations

import json  # for what is written into a script
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.page.conftest import chromium
from tests.suites import PROJECT
from tests.support.programs import WAIT_S, Gateway, call, decoded, environment
from tests.web.agreement import WEB
from tests.web.test_reducers_agree import require

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

README: Final = WEB / "core" / "README.md"
# Where the README's programs look for a gateway.
USUAL_URL: Final = "http://127.0.0.1:7890"
BLOCK: Final = re.compile(r"^```(ts|html)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Installed(NamedTuple):
    """A project that has the package.

    Attributes:
        folder: The project, with the README's programs beside it.
        env: In which npm and Node reach no network and nobody's settings.
    """

    folder: Path
    env: dict[str, str]

    def run(self, *arguments: str) -> str:
        """Return what a program prints."""
        done = subprocess.run(
            arguments, cwd=self.folder, env=self.env, capture_output=True, timeout=150, check=False
        )
        assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
        return done.stdout.decode()

    def node(self, script: str, *options: str) -> Any:
        """Return the JSON that a module prints."""
        return decoded(self.run("node", *options, "--input-type=module", "--eval", script).encode())


@contextmanager
def hastened(folder: Path, **env: str) -> Iterator[Gateway]:
    """Yield a gateway that plays the demo's recordings ten times as fast, and a piece at a time still."""
    config = folder / "hastened.toml"
    config.write_text('[engines.hastened]\nkind = "replay"\nspeed = 10\n', encoding="utf-8")
    store = f"sqlite:///{folder / 'store.db'}"
    arguments = ("--store", store, "--config", str(config), "--engine", "hastened")
    with Gateway(environment(folder, **env), *arguments) as gateway:
        yield gateway


def programs() -> dict[str, str]:
    """Return the README's programs by the names in their first lines; its page is index.html."""
    found: dict[str, str] = {}
    for kind, text in BLOCK.findall(README.read_text(encoding="utf-8")):
        first = text.partition("\n")[0]
        name = "index.html" if kind == "html" else first.removeprefix("// ")
        assert kind == "html" or re.fullmatch(r"// [a-z.]+\.ts", first), f"no name: {first}"
        assert name not in found
        found[name] = text
    return found


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    require("node")
    folder = tmp_path_factory.mktemp("package")
    env = environment(folder, npm_config_offline="true", npm_config_update_notifier="false")
    # As it is checked out: what was built here before may be old.
    checkout = folder / "web"
    ignored = shutil.ignore_patterns("dist", "node_modules")
    shutil.copytree(WEB / "core", checkout / "core", ignore=ignored)
    for name in ("package.json", "tsconfig.base.json"):
        shutil.copy(WEB / name, checkout / name)
    (checkout / "node_modules").symlink_to(WEB / "node_modules")
    project = folder / "project"
    project.mkdir()
    (project / "package.json").write_text('{"type": "module", "private": true}', encoding="utf-8")
    packing = Installed(checkout / "core", env)
    packing.run("npm", "pack", "--pack-destination", str(folder))
    (package,) = folder.glob("*.tgz")
    made = Installed(project, env)
    made.run("npm", "install", "--no-audit", "--no-fund", str(package))
    for name, text in programs().items():
        (project / name).write_text(text, encoding="utf-8")
    return made


def compile_programs(project: Installed, module: str, resolution: str, *more: str) -> None:
    """Check the README's programs as strictly as TypeScript can, the package's types included."""
    names = [name for name in programs() if name.endswith(".ts")]
    project.run(
        str(WEB / "node_modules" / ".bin" / "tsc"),
        "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess",
        "--noUnusedLocals", "--skipLibCheck", "false", "--types", "", "--target", "es2022",
        "--lib", "es2022,dom", "--module", module, "--moduleResolution", resolution,
        *more, *names,
    )  # fmt: skip


def test_the_package_holds_what_was_built_and_nothing_else(installed: Installed) -> None:
    package = installed.folder / "node_modules" / "@blockwire" / "core"
    assert {path.name for path in package.iterdir()} == {
        "LICENSE",
        "README.md",
        "dist",
        "package.json",
    }
    assert (package / "LICENSE").read_bytes() == (PROJECT / "LICENSE").read_bytes()
    sources = {path.stem for path in (WEB / "core" / "src").glob("*.ts")}
    built = {path.name for path in (package / "dist").iterdir() if path.is_file()}
    assert built == {f"{name}{ending}" for name in sources for ending in (".js", ".d.ts")}
    assert "dependencies" not in decoded((package / "package.json").read_bytes())


@pytest.mark.parametrize("conditions", [(), ("--conditions=development",)])
def test_node_imports_it_whatever_conditions_are_set(
    installed: Installed, conditions: tuple[str, ...]
) -> None:
    script = """
      import { decodeJson, encodeJson } from "@blockwire/core";
      console.log(JSON.stringify(encodeJson(decodeJson('{"b":1.0,"a":9007199254740993}'))));
    """
    assert installed.node(script, *conditions) == '{"b":1.0,"a":9007199254740993}'


def test_bounds_of_the_readme_are_exported(installed: Installed) -> None:
    named = re.findall(r"`([A-Z][A-Z_]+)`", README.read_text(encoding="utf-8"))
    script = 'import * as core from "@blockwire/core"; console.log(JSON.stringify(core));'
    assert len(named) >= 10
    assert set(named) <= set(installed.node(script))


@pytest.mark.parametrize(
    ("module", "resolution"), [("nodenext", "nodenext"), ("esnext", "bundler")]
)
def test_the_programs_of_the_readme_pass_strict_checks(
    installed: Installed, module: str, resolution: str
) -> None:
    compile_programs(installed, module, resolution, "--noEmit")


def test_the_programs_of_the_readme_do_what_it_says(installed: Installed, tmp_path: Path) -> None:
    compile_programs(installed, "nodenext", "nodenext", "--outDir", "out")
    with hastened(tmp_path) as gateway:
        for name in ("ask.js", "follow.js"):
            program = installed.folder / "out" / name
            text = program.read_text(encoding="utf-8")
            assert text.count(USUAL_URL) == 1
            program.write_text(text.replace(USUAL_URL, gateway.url), encoding="utf-8")

        printed = installed.run("node", "out/ask.js")

        (conversation,) = call(gateway.url, "/v1/conversations")["items"]
        path = f"/v1/conversations/{conversation['id']}"
        _question, answer = call(gateway.url, f"{path}/messages")["items"]
        lengths = [int(row.split()[2]) for row in printed.splitlines() if row.startswith("live ")]
        assert lengths == sorted(lengths)
        assert len(set(lengths)) > 2
        assert "user: Do they pass?\nassistant: " in printed
        assert answer["content"][0]["markdown"].rstrip() in printed

        folded = installed.node(
            f"""
            import {{ encodeJson }} from "@blockwire/core";
            import {{ fold }} from "./out/fold.js";
            import {{ follow }} from "./out/follow.js";
            const runs = [[], []];
            const id = {json.dumps(conversation["id"])};
            const cursors = [];
            for (const [at, cursor] of [0, 5].entries()) {{
              cursors.push(await follow(id, cursor, (event) => runs[at].push(event)));
            }}
            const numbered = runs.map((run) => run.filter((event) => event.seq));
            const state = fold(numbered[0].map(encodeJson));
            console.log(encodeJson({{
              cursors,
              firsts: numbered.map((run) => run[0].seq),
              messages: [...state.messages()].map(({{ message }}) => message),
            }}));
            """
        )
        head = call(gateway.url, path)["head_seq"]
        assert (folded["cursors"], folded["firsts"]) == ([head, head], [1, 6])
        assert folded["messages"] == call(gateway.url, f"{path}/messages")["items"]


def test_a_page_without_a_bundler_does_what_the_readme_says(
    installed: Installed, tmp_path: Path
) -> None:
    path = chromium()
    site = tmp_path / "site"
    dist = installed.folder / "node_modules" / "@blockwire" / "core" / "dist"
    shutil.copytree(dist, site / "core")
    with (
        serving(site) as origin,
        hastened(tmp_path, BLOCKWIRE_ALLOWED_ORIGINS=origin) as gateway,
        sound_page(path) as page,
    ):
        text = programs()["index.html"].replace(USUAL_URL, gateway.url)
        (site / "index.html").write_text(text, encoding="utf-8")
        page.goto(origin)
        expect(page.locator("body")).to_contain_text("Do they pass?", timeout=WAIT_S * 1000)
        last_words = only_answer(gateway)["content"][-1]["markdown"].split()[-1]
        expect(page.locator("body")).to_contain_text(last_words, timeout=WAIT_S * 1000)


@contextmanager
def sound_page(path: str) -> Iterator[Page]:
    """Yield a page of the browser at ``path``, in which no exception may be left over."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        page = browser.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
        assert errors == []
        browser.close()


def only_answer(gateway: Gateway) -> Any:
    """Return the answer to the only question that a gateway was asked, once it has ended."""
    (conversation,) = call(gateway.url, "/v1/conversations")["items"]
    turns = f"/v1/conversations/{conversation['id']}/turns"
    turn_id = call(gateway.url, turns)["items"][0]["id"]
    return call(gateway.url, f"{turns}/{turn_id}?wait=50")["message"]


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder and yield its origin."""
    handler = partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and says nothing of it."""

    def log_message(self, *_values: object) -> None:
        pass
