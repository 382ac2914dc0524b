"""What the gateway says of itself: its API for people, and a few words for programs.

Spec: docs/spec/gateway/routes.md. The page is self-contained; the policy lets it load nothing but
the gateway's own document, and whatever that holds is shown as text.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Final

__all__ = ["DOCS_PAGE", "LANDING_TEXT", "PAGE_POLICY"]

_STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}"
    "code,pre{font:14px/1.5 ui-monospace,monospace}pre{overflow-x:auto}"
    "h2{margin:2rem 0 .5rem}details{border-top:1px solid #8884;padding:.4rem 0}"
    "summary{cursor:pointer}b{display:inline-block;min-width:4.5rem}small{opacity:.7}"
)

_SCRIPT: Final = """
const add = (parent, name, text) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
};
const main = document.querySelector("main");
fetch("/openapi.json").then((answer) => answer.json()).then((api) => {
  add(main, "p", api.info.description);
  const tags = new Map();
  for (const [path, methods] of Object.entries(api.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0];
      if (!tags.has(tag)) tags.set(tag, []);
      tags.get(tag).push({path, method, operation});
    }
  for (const [tag, rows] of tags) {
    add(main, "h2", tag);
    for (const {path, method, operation} of rows) {
      const box = add(main, "details");
      const head = add(box, "summary");
      add(head, "b", method.toUpperCase());
      add(head, "code", path);
      add(box, "p", operation.summary);
      for (const p of operation.parameters) {
        const line = add(box, "p");
        add(line, "code", p.name);
        line.append(" (" + p.in + ") " + (p.description || ""));
      }
      for (const [type, body] of Object.entries(operation.requestBody?.content || {}))
        add(box, "p", "Takes " + type + ": " + (body.schema?.$ref || "").split("/").pop());
      for (const [status, answer] of Object.entries(operation.responses)) {
        const line = add(box, "p");
        add(line, "b", status);
        line.append(answer.description);
      }
    }
  }
  add(main, "h2", "shapes");
  for (const [name, schema] of Object.entries(api.components.schemas)) {
    const box = add(main, "details");
    add(add(box, "summary"), "code", name);
    add(box, "pre", JSON.stringify(schema, null, 2));
  }
});
"""


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _page(title: str, body: str, script: str = "") -> bytes:
    tail = f"<script>{script}</script>" if script else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{_STYLE}</style></head>"
        f"<body>{body}{tail}</body></html>\n"
    ).encode()


PAGE_POLICY: Final[tuple[tuple[str, str], ...]] = (
    (
        "content-security-policy",
        (
            f"default-src 'none'; style-src {_hash(_STYLE)}; script-src {_hash(_SCRIPT)}; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
    ),
)
"""Headers of the page."""

DOCS_PAGE: Final = _page("blockwire API", "<h1>blockwire API</h1><main></main>", _SCRIPT)

LANDING_TEXT: Final = b"""\
blockwire: a gateway for conversations with agents.

The page      open this address in a browser
The API       /docs for people, /openapi.json for programs
Alive, ready  /healthz, /readyz

  curl -s --json '{}' http://127.0.0.1:7890/v1/conversations
  curl -N http://127.0.0.1:7890/v1/conversations/ID/events
"""
"""For whoever asks for ``/`` and not for HTML."""
