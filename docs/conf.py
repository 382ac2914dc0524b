"""How Sphinx builds the pages; ``make docs`` treats every warning as an error."""

from pathlib import Path
from typing import Any

import blockwire

project = "blockwire"
author = "The blockwire developers"
copyright = "The blockwire developers"  # noqa: A001 - the name is Sphinx's
version = release = blockwire.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build", "adr/template.md", "examples/**"]

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
# Attributes that a class docstring explains are also members with annotations: describe them once.
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"blockwire {version}"
html_copy_source = False
html_show_sourcelink = False

RECORDS = Path(__file__).parent / "adr"


def _list_records(_app: Any, docname: str, source: list[str]) -> None:
    """List the decision records on their page, newest first, instead of in the sidebar of every page.

    Hundreds of them in a tree that each page holds bury everything else, and take three quarters of the time of a build.
    """
    if docname == "adr/index":
        for path in sorted(RECORDS.glob("0*.md"), reverse=True):
            title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
            source[0] += f"- [{title}]({path.name})\n"
    elif docname.startswith("adr/0"):
        source[0] = f"---\norphan: true\n---\n{source[0]}"


def setup(app: Any) -> None:
    """Take part in the build."""
    app.connect("source-read", _list_records)
