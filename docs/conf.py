"""How Sphinx builds the pages; ``make docs`` treats every warning as an error."""

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
