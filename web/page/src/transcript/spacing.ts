/** The empty space before, between and behind the rows that are in the document. */
import { el } from "../platform/dom.ts";
import type { Layout } from "./layout.ts";
import type { Mounted } from "./mounted.ts";

/** Pixels below which two rows touch: browsers round to 1/64. */
const TOUCH_PX = 0.02;

export class Spacing {
  /** Stands before the rows, and holds the notice of what is older. */
  readonly lead: HTMLElement;
  /** Stands behind them, and holds the notice of what is newer. */
  readonly trail: HTMLElement;
  /** What the document was given last: equal values are not written. */
  #given = { lead: -1, trail: -1 };

  constructor(head: Node, foot: Node) {
    this.lead = el("div", { class: "tr-lead" }, head);
    this.trail = el("div", { class: "tr-trail" }, foot);
  }

  /** Write what the layout says. Returns whether anything changed before or behind the rows. */
  write(layout: Layout, rows: readonly Mounted[]): boolean {
    const { frame } = layout;
    let { lead } = frame;
    let bottom = 0;
    for (const [at, { index, wrapper }] of rows.entries()) {
      const top = layout.topOf(index);
      if (at === 0) lead = Math.max(0, top);
      const gap = at === 0 ? 0 : top - bottom;
      setMargin(wrapper, gap > TOUCH_PX ? gap : 0);
      bottom = top + layout.heights.at(index);
    }
    const last = rows.at(-1)?.index ?? -1;
    // A row that is held below the window stands in what would be the trail.
    const held =
      last > layout.mounted.last
        ? layout.heights.offsetOf(last + 1) - layout.heights.offsetOf(layout.mounted.last + 1)
        : 0;
    const given = { lead, trail: Math.max(0, frame.trail - held) };
    const isLead = given.lead !== this.#given.lead;
    const isTrail = given.trail !== this.#given.trail;
    if (isLead) this.lead.style.height = `${given.lead}px`;
    if (isTrail) this.trail.style.height = `${given.trail}px`;
    this.#given = given;
    return isLead || isTrail;
  }
}

function setMargin(wrapper: HTMLElement, pixels: number): void {
  const margin = pixels === 0 ? "" : `${pixels}px`;
  if (wrapper.style.marginTop !== margin) wrapper.style.marginTop = margin;
}
