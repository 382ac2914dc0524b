"""The style of a page: light and dark, for reading on screens and on paper.

Spec: docs/spec/rendering/html.md. Fonts are those of the machine; every pair of text and ground
has a contrast of at least 4.5 to 1 (tests/render/test_page_style.py computes it).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["CODE_CLASSES", "PALETTES", "STYLESHEET"]

PALETTES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "light": MappingProxyType(
            {
                "ground": "#fdfdfc",
                "raised": "#f3f4f6",
                "line": "#d9dce1",
                "text": "#1f2328",
                "soft": "#59616b",
                "link": "#0b5cad",
                "user": "#0b5cad",
                "assistant": "#7a3e9d",
                "good": "#1a7037",
                "bad": "#b42318",
                "warn": "#8a5300",
                "bad-ground": "#fdf0ee",
                "keyword": "#a0246b",
                "string": "#1a6b3c",
                "number": "#a04100",
                "name": "#3d4bb8",
                "comment": "#626a73",
            }
        ),
        "dark": MappingProxyType(
            {
                "ground": "#16181d",
                "raised": "#21242b",
                "line": "#383d47",
                "text": "#e4e6ea",
                "soft": "#a2a9b4",
                "link": "#7db8f5",
                "user": "#7db8f5",
                "assistant": "#cf9ff0",
                "good": "#7fd19a",
                "bad": "#ff9d92",
                "warn": "#e9b765",
                "bad-ground": "#2f2022",
                "keyword": "#f29ac7",
                "string": "#93d8a8",
                "number": "#f0ad7c",
                "name": "#a9b6ff",
                "comment": "#9aa2ad",
            }
        ),
    }
)
"""Colours by theme and use."""


CODE_CLASSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "keyword": "k kc kd kn kp kr kt ow nt",
        "string": "s sa sb sc dl sd s2 se sh si sx sr s1 ss gi",
        "number": "m mb mf mh mi il mo no l ld",
        "name": "nf fm nc nb bp nd na nn ne gh gu",
        "comment": "c ch cm cp cpf c1 cs gp go",
        "bad": "gd",
        "text": "ge gs",
    }
)
"""What code is coloured: use of the colour -> classes of pieces of code."""


def _variables(palette: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in palette.items())


_WEIGHTS: Final = """\
.c, .c1, .cm { font-style: italic; }
.ge { font-style: italic; }
.gs { font-weight: 700; }
"""


def _code_rules() -> str:
    return "".join(
        f"{', '.join(f'.{name}' for name in names.split())} {{ color: var(--{use}); }}\n"
        for use, names in CODE_CLASSES.items()
    )


_RULES: Final = """\
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 48rem; padding: 2.5rem 1.25rem 5rem;
  background: var(--ground); color: var(--text);
  font: 1.0625rem/1.65 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: break-word;
}
p, li, h1, h2, h3, h4, h5, h6, td, th, figcaption { unicode-bidi: plaintext; text-align: start; }
pre, code { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
a { color: var(--link); text-underline-offset: 0.15em; text-decoration-thickness: 0.06em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }

body > header { padding-bottom: 1.25rem; border-bottom: 1px solid var(--line); }
body > header p { margin: 0.35rem 0 0; color: var(--soft); font-size: 0.875rem; }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.25; letter-spacing: -0.015em; }
h3, h4, h5, h6 { margin: 1.75em 0 0.6em; line-height: 1.3; }
h3 { font-size: 1.35rem; letter-spacing: -0.01em; }
h4 { font-size: 1.15rem; }
h5, h6 { font-size: 1rem; }

.message { margin-top: 2.25rem; }
.message > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.75rem; margin-bottom: 0.5rem; }
.message > header h2 { margin: 0; font-size: 0.9375rem; font-weight: 650; color: var(--soft); }
.user > header h2 { color: var(--user); }
.assistant > header h2 { color: var(--assistant); }
.facts, .note, .target { color: var(--soft); font-size: 0.8125rem; }
.message > header .facts { margin: 0; }
.user { padding: 0.9rem 1.15rem 1rem; background: var(--raised); border-radius: 0.75rem; }
.system, .developer { padding-inline-start: 1.15rem; border-inline-start: 3px solid var(--line); }
.note { margin: 1rem 0 0; font-style: italic; }
.target { overflow-wrap: anywhere; }
.literal { margin: 0; white-space: pre-wrap; tab-size: 4; }

.prose > :first-child { margin-top: 0; }
.prose > :last-child { margin-bottom: 0; }
.message > header ~ * { margin-bottom: 0; }
.message > * + :not(header, .note) { margin-top: 1rem; }
.message > header + * { margin-top: 0; }
p { margin: 0.9em 0; }
ul, ol { margin: 0.9em 0; padding-inline-start: 1.6em; }
li { margin: 0.3em 0; }
li > ul, li > ol { margin: 0.2em 0; }
li:has(> input), li:has(> p > input) { list-style: none; }
li input { margin: 0 0.4em 0 -1.5em; }
blockquote { margin: 1em 0; padding-inline-start: 1.1em; border-inline-start: 3px solid var(--line); color: var(--soft); }
blockquote > :first-child { margin-top: 0; }
blockquote > :last-child { margin-bottom: 0; }
hr { margin: 2em 0; border: 0; border-top: 1px solid var(--line); }
s { color: var(--soft); }
.image::before { content: "\\25A3\\00A0"; }

code { padding: 0.12em 0.35em; background: var(--raised); border-radius: 0.3em; font-size: 0.875em; }
pre {
  margin: 1em 0; padding: 0.85rem 1rem; overflow-x: auto; tab-size: 4;
  background: var(--raised); border: 1px solid var(--line); border-radius: 0.6rem; line-height: 1.5;
}
pre code { padding: 0; background: none; border-radius: 0; font-size: 0.84375rem; overflow-wrap: normal; }
.user pre, .user code { background: var(--ground); }
.user pre code { background: none; }
figure { margin: 1em 0; }
.code figcaption {
  display: inline-block; padding: 0.1rem 0.7rem; background: var(--raised); color: var(--soft); font-size: 0.75rem;
  border: 1px solid var(--line); border-bottom: 0; border-radius: 0.6rem 0.6rem 0 0; position: relative; top: 1px;
}
.code pre { margin: 0; border-start-start-radius: 0; }
.user .code figcaption { background: var(--ground); }

.table { margin: 1em 0; overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9375em; line-height: 1.5; }
th, td { padding: 0.4rem 0.85rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 650; border-bottom-width: 2px; }
.right { text-align: end; font-variant-numeric: tabular-nums; }
.center { text-align: center; }

.tool, .reasoning { border: 1px solid var(--line); border-radius: 0.6rem; font-size: 0.9375rem; }
summary, p.tool { padding: 0.5rem 0.9rem; }
summary { cursor: pointer; border-radius: inherit; }
summary:hover { background: var(--raised); }
.tool .name { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.875em; font-weight: 600; overflow-wrap: anywhere; }
.tool .facts { margin-inline-start: 0.4rem; }
.mark { display: inline-block; width: 1.1em; font-weight: 700; text-align: center; color: var(--soft); }
.completed .mark { color: var(--good); }
.failed .mark { color: var(--bad); }
.pending .mark, .running .mark { color: var(--warn); }
dl { margin: 0; padding: 0.25rem 0.9rem 0.9rem; }
dt { margin-top: 0.5rem; color: var(--soft); font-size: 0.8125rem; }
dd { margin: 0; }
dd pre { margin: 0.3rem 0 0; max-height: 28rem; overflow: auto; }
dd pre, .reasoning .literal { white-space: pre-wrap; overflow-wrap: anywhere; }
dd .code { margin: 0; }
dd .code figcaption { display: none; }
dd .code pre { margin: 0.3rem 0 0; border-start-start-radius: 0.6rem; }
.reasoning { color: var(--soft); border-style: dashed; }
.reasoning .literal { padding: 0 0.9rem 0.8rem; }

.error, .notice, .speech, .unknown { padding: 0.7rem 1rem; border-radius: 0.6rem; border: 1px solid var(--line); font-size: 0.9375rem; }
.error { background: var(--bad-ground); border-color: var(--bad); }
.error .literal { color: var(--bad); font-weight: 600; }
.error .facts, .unknown .facts { margin: 0.2rem 0 0; }
.unknown .facts { margin: 0; }
.notice { border: 0; border-inline-start: 3px solid var(--line); border-radius: 0; padding-block: 0.2rem; color: var(--soft); }
.speech { border: 0; padding: 0; font-style: italic; color: var(--soft); }
.speech .literal::before { content: "\\266A\\00A0"; font-style: normal; }
.attachment img { display: block; max-width: 100%; height: auto; margin-bottom: 0.5rem; border-radius: 0.6rem; border: 1px solid var(--line); }
.attachment figcaption { display: inline-block; max-width: 100%; padding: 0.4rem 0.9rem; border: 1px solid var(--line); border-radius: 0.6rem; font-size: 0.9375rem; }
.attachment figcaption::before { content: "+\\00A0"; color: var(--soft); }
.attachment .name { font-weight: 600; overflow-wrap: anywhere; }

{code}@media (max-width: 34rem) {
  body { padding: 1.5rem 1rem 3rem; font-size: 1rem; }
  .user { margin-inline: -0.4rem; padding-inline: 0.9rem; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10.5pt; line-height: 1.45; }
  details::details-content { content-visibility: visible; block-size: auto; }
  summary { list-style: none; }
  pre, dd pre { white-space: pre-wrap; overflow: visible; max-height: none; overflow-wrap: anywhere; }
  a.link[href^="http"]::after { content: " (" attr(href) ")"; color: var(--soft); font-size: 0.8em; overflow-wrap: anywhere; }
  h2, h3, h4, h5, h6, figcaption, summary { break-after: avoid; }
  pre, tr, blockquote, .error, .notice, .attachment { break-inside: avoid; }
}
"""

STYLESHEET: Final = (
    f":root {{ color-scheme: light dark; {_variables(PALETTES['light'])} }}\n"
    f"@media (prefers-color-scheme: dark) {{ :root {{ {_variables(PALETTES['dark'])} }} }}\n"
    # Paper is white.
    f"@media print {{ :root {{ color-scheme: light; {_variables(PALETTES['light'])} }} }}\n"
    + _RULES.replace("{code}", _code_rules() + _WEIGHTS)
)
"""CSS without any address in it."""
