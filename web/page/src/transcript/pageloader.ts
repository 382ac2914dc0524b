/** Loads pages of messages as the reader comes near them, forgets those that are far, and says what could not be read. */
import { strings } from "../strings.ts";
import type { Pages, Side } from "./pages.ts";
import type { RowList } from "./rowlist.ts";
import type { Stage } from "./stage.ts";
import { Notice, type NoticeState } from "./states.ts";

/** Windows from the end of what is loaded at which the next page is asked for. */
const NEAR_WINDOWS = 2;

const SIDES = ["older", "newer"] as const;

export interface PageLoaderOptions {
  readonly pages: Pages;
  readonly list: RowList;
  stage(): Stage;
  /** Other messages are loaded than before. */
  changed(): void;
  /** Something is to be looked at in the next frame. */
  schedule(): void;
}

export class PageLoader {
  /** Stands above the first message. */
  readonly head: Notice;
  /** Stands below the last one. */
  readonly foot: Notice;
  /** Whether what is loaded is about to be replaced: nothing is loaded to it. */
  isPaused = false;
  readonly #options: PageLoaderOptions;
  #loading: Record<Side, boolean> = { older: false, newer: false };
  #failed: Record<Side, boolean> = { older: false, newer: false };
  #isDestroyed = false;

  constructor(options: PageLoaderOptions) {
    this.#options = options;
    const words = strings.transcript;
    this.head = new Notice(words.older, () => this.#retry("older"));
    this.foot = new Notice(words.newer, () => this.#retry("newer"));
  }

  destroy(): void {
    this.#isDestroyed = true;
  }

  /** Whether an end of what is loaded is near. */
  get isNear(): boolean {
    return SIDES.some((side) => this.#isNear(side));
  }

  /** Ask for what the reader comes near. */
  loadNear(): void {
    const { pages } = this.#options;
    if (this.#options.stage().rows.length === 0 && !pages.hasOlder) return;
    for (const side of SIDES) {
      if (!this.#failed[side] && this.#isNear(side)) void this.#load(side);
    }
  }

  /** Forget pages beyond the bounds, on the side that is further from the reader. */
  dropFar(): void {
    const { pages, changed, schedule } = this.#options;
    let isDropped = false;
    while (pages.isOver) {
      const side = this.#farSide();
      if (side === null) break;
      pages.drop(side);
      isDropped = true;
    }
    if (!isDropped) return;
    changed();
    schedule();
  }

  /** Say at both ends what is there. */
  edges(): void {
    const { pages } = this.#options;
    this.head.set(this.#noticeOf("older", pages.hasOlder));
    this.foot.set(this.#noticeOf("newer", !pages.isJoined));
    this.#options.stage().setNotices(this.head.state !== "none", this.foot.state !== "none");
  }

  /** Let a page with a message be all that is loaded; false if there is no such message, or it could not be read. */
  async moveTo(messageId: string): Promise<boolean> {
    try {
      return (
        (await this.#options.pages.moveTo({ around: messageId }, this.#isLive)) &&
        !this.#isDestroyed
      );
    } catch {
      return false;
    }
  }

  /** Let the first page of the conversation be all that is loaded, unless it is loaded already. */
  async moveToFirst(): Promise<void> {
    const { pages, changed } = this.#options;
    if (!pages.hasOlder) return;
    try {
      if (!(await pages.moveTo({ after: "0" }, this.#isLive))) return;
    } catch {
      this.#failed.older = true;
    }
    if (!this.#isDestroyed) changed();
  }

  readonly #isLive = (id: string): boolean => this.#options.list.state.message(id) !== undefined;

  #isNear(side: Side): boolean {
    const { pages } = this.#options;
    const { layout, rows } = this.#options.stage();
    const near = NEAR_WINDOWS * layout.viewport;
    if (side === "older") return pages.hasOlder && layout.scrollTop < layout.topOf(0) + near;
    if (pages.isJoined) return false;
    return layout.scrollTop + layout.viewport > layout.topOf(rows.length) - near;
  }

  async #load(side: Side): Promise<void> {
    const { pages, changed, schedule } = this.#options;
    if (this.#loading[side] || this.isPaused) return;
    this.#loading[side] = true;
    this.edges();
    let isChanged = false;
    try {
      isChanged = await pages.load(side, this.#isLive);
    } catch {
      this.#failed[side] = true;
    }
    this.#loading[side] = false;
    if (this.#isDestroyed) return;
    if (isChanged) {
      changed();
      this.dropFar();
    }
    this.edges();
    schedule();
  }

  #retry(side: Side): void {
    this.#failed[side] = false;
    this.#options.schedule();
  }

  #farSide(): Side | null {
    const { pages, list } = this.#options;
    const { layout, rows } = this.#options.stage();
    const { first, last } = layout.mounted;
    const live = pages.isJoined ? list.state.count : 0;
    const spareAbove = first - pages.dropped("older").length;
    const spareBelow = rows.length - 1 - last - pages.dropped("newer").length - live;
    if (spareAbove <= 0 && spareBelow <= 0) return null;
    return spareAbove >= spareBelow ? "older" : "newer";
  }

  #noticeOf(side: Side, isMore: boolean): NoticeState {
    if (this.#failed[side]) return "failed";
    if (!isMore) return "none";
    return this.#loading[side] ? "loading" : "idle";
  }
}
