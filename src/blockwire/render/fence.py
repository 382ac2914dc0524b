"""The second fence of a page: a sanitiser that takes away what the writer should not have made.

Spec: docs/spec/rendering/html.md. It parses as browsers do, so it also ends what a browser would
see differently. What it lets pass is what the writer makes, and not more: it has nothing to do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import nh3

from blockwire.render.htmltext import LINK_REL, html_attribute
from blockwire.render.spans import safe_link

__all__ = ["fenced_html", "safe_href"]

# fmt: off
_TAGS: Final = frozenset({
    "a", "article", "bdi", "blockquote", "br", "code", "dd", "details", "div", "dl", "dt", "em",
    "figcaption", "figure", "h2", "h3", "h4", "h5", "h6", "header", "hr", "img", "input", "li",
    "ol", "p", "pre", "s", "span", "strong", "summary", "table", "tbody", "td", "th", "thead",
    "time", "tr", "ul",
})
# fmt: on
_ATTRIBUTES: Final = {
    "*": {"aria-hidden", "aria-label", "aria-labelledby", "class", "id", "role", "title"},
    "a": {"href", "rel"},
    "details": {"open"},
    "img": {"alt", "src"},
    "input": {"checked", "disabled", "type"},
    "ol": {"start"},
    "time": {"datetime"},
}
_LINK_SCHEMES: Final = frozenset({"http", "https", "mailto"})
_PICTURE: Final = "data:image/"


def _allowed_value(_tag: str, attribute: str, value: str) -> str | None:
    """Return the value of an attribute; addresses are of links, or of pictures in the page."""
    if attribute == "href":
        return None if value.lower().startswith("data:") else value
    if attribute == "src":
        return value if value.startswith(_PICTURE) else None
    return LINK_REL if attribute == "rel" else value


@lru_cache(maxsize=2)
def _cleaner(*, with_pictures: bool) -> nh3.Cleaner:
    # Calls for each attribute are dear; without pictures the scheme alone decides.
    return nh3.Cleaner(
        tags=set(_TAGS if with_pictures else _TAGS - {"img"}),
        attributes=_ATTRIBUTES,
        attribute_filter=_allowed_value if with_pictures else None,
        url_schemes=set(_LINK_SCHEMES | ({"data"} if with_pictures else set())),
        link_rel=None,
    )


def fenced_html(html: str, *, with_pictures: bool) -> str:
    """Return ``html``, parsed and written anew without what no message may have."""
    return _cleaner(with_pictures=with_pictures).clean(html)


def safe_href(target: str) -> str | None:
    """Return the value of ``href`` for an address that a page may link to, else None.

    It is of a harmless scheme, and one that browsers can read: a host that no name stands for is
    shown, not linked.
    """
    link = safe_link(target)
    if link is None:
        return None
    href = html_attribute(link)
    anchor = f'<a href="{href}"></a>'
    return href if fenced_html(anchor, with_pictures=False) == anchor else None
