/**
 * Moving between messages with keys: one message takes part in the order of Tab, j and k go on from it.
 *
 * The message that has the focus stays in the document when it scrolls out of sight; so the focus is never lost.
 */

import type { Mounted } from "./mounted.ts";
import { isField } from "./reader.ts";
import type { Stage } from "./stage.ts";

export interface KeyWays {
  toStart(): void;
  toEnd(): void;
  reveal(index: number): void;
}

export class Keys {
  readonly #stage: Stage;
  readonly #ways: KeyWays;
  readonly #gone = new AbortController();
  /** The message that Tab reaches. */
  #current: string | null = null;
  #numbered = { count: -1, isPart: false, first: -1 };

  constructor(stage: Stage, ways: KeyWays) {
    this.#stage = stage;
    this.#ways = ways;
    const { signal } = this.#gone;
    stage.scroller.addEventListener("keydown", (event) => this.#pressed(event), { signal });
    stage.scroller.addEventListener("focusin", (event) => this.#focused(event), { signal });
  }

  destroy(): void {
    this.#gone.abort();
  }

  /** A view came into the document. */
  mounted({ row, view }: Mounted): void {
    view.element.tabIndex = row.id === this.#current ? 0 : -1;
    this.#numbered.count = -1;
  }

  /** Say of each message which one it is; `isPart` if there are others that are not loaded. */
  renumber(isPart: boolean): void {
    const count = this.#stage.rows.length;
    const first = this.#stage.mounted[0]?.index ?? -1;
    const { count: oldCount, isPart: oldPart, first: oldFirst } = this.#numbered;
    if (oldCount === count && oldPart === isPart && oldFirst === first) return;
    this.#numbered = { count, isPart, first };
    for (const { index, view } of this.#stage.mounted) {
      view.element.setAttribute("aria-posinset", String(index + 1));
      view.element.setAttribute("aria-setsize", isPart ? "-1" : String(count));
    }
  }

  #focused(event: FocusEvent): void {
    const mounted = this.#stage.rowOf(event.target instanceof Node ? event.target : null);
    if (mounted !== null) this.#setCurrent(mounted);
  }

  #setCurrent(mounted: Mounted): void {
    if (this.#current === mounted.row.id) return;
    const old = this.#current === null ? null : this.#stage.mountedOf(this.#current);
    if (old !== null) old.view.element.tabIndex = -1;
    this.#current = mounted.row.id;
    mounted.view.element.tabIndex = 0;
  }

  #pressed(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && isField(event.target)) return;
    if (event.key === "j" || event.key === "k") {
      event.preventDefault();
      this.#step(event.key === "j" ? 1 : -1);
    } else if (event.key === "Home") {
      event.preventDefault();
      this.#ways.toStart();
    } else if (event.key === "End") {
      event.preventDefault();
      this.#ways.toEnd();
    }
  }

  #step(by: 1 | -1): void {
    const focused = this.#stage.rowOf(document.activeElement);
    // From the scroll container itself: the message at the top of the window.
    const index = focused === null ? this.#seen(by) : focused.index + by;
    if (index < 0 || index >= this.#stage.rows.length) return;
    const id = this.#stage.rows[index]?.id ?? "";
    this.#ways.reveal(index);
    const mounted = this.#stage.mountedOf(id);
    if (mounted === null) return;
    this.#setCurrent(mounted);
    mounted.view.element.focus({ preventScroll: true });
  }

  #seen(by: 1 | -1): number {
    const { index, y } = this.#stage.layout.place();
    return by === 1 && y < -1 ? Math.min(index + 1, this.#stage.rows.length - 1) : index;
  }
}
