/** Goes to places: a message, a block, the beginning, where the reader was before a snapshot took the list away. */
import type { Follower } from "./follower.ts";
import type { Mounted, Row } from "./mounted.ts";
import type { PageLoader } from "./pageloader.ts";
import type { Pages } from "./pages.ts";
import type { RowList } from "./rowlist.ts";
import type { Stage } from "./stage.ts";
import type { ScrollPlace } from "./types.ts";

/** Pixels above a message or block that was looked up. */
export const REVEAL_PX = 24;

export interface FinderOptions {
  readonly pages: Pages;
  readonly list: RowList;
  readonly loader: PageLoader;
  readonly stage: Stage;
  readonly follower: Follower;
  setRows(rows: Row[]): void;
  schedule(): void;
}

export class Finder {
  readonly #options: FinderOptions;
  /** Told once there is something to look for a place in: the first snapshot, or that there is none. */
  readonly #begun: Promise<void>;
  #begin: () => void = () => undefined;
  #isDestroyed = false;

  constructor(options: FinderOptions) {
    this.#options = options;
    this.#begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  /** There is something to look for a place in, or there never will be. */
  begin(): void {
    this.#begin();
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#begin();
  }

  /** Where the reader is; null at the end, which is followed. */
  place(): ScrollPlace | null {
    const { follower, stage } = this.#options;
    if (follower.isOn) return null;
    const { index, y } = stage.layout.place();
    const row = stage.rows[index];
    return row === undefined ? null : { messageId: row.id, offset: y };
  }

  /** See `Transcript.scrollTo`. */
  async scrollTo(messageId: string, blockId: string | undefined, offset: number): Promise<boolean> {
    await this.#begun;
    if (this.#isDestroyed || !(await this.bring(messageId))) return false;
    const { stage } = this.#options;
    const index = stage.indexOf(messageId);
    if (index < 0) return false;
    this.reveal(
      index,
      (mounted) => (blockId === undefined ? null : mounted.view.blockElement(blockId)),
      offset,
    );
    return true;
  }

  /** Go to the first message of the conversation. */
  async toStart(): Promise<void> {
    const { follower, loader } = this.#options;
    follower.does({ kind: "placed" });
    await loader.moveToFirst();
    if (!this.#isDestroyed) this.reveal(0);
  }

  /** Let a message be among the rows. */
  async bring(messageId: string): Promise<boolean> {
    const { list, loader, pages, setRows, stage } = this.#options;
    if (!loader.isPaused && stage.indexOf(messageId) >= 0) return true;
    if (list.state.message(messageId) !== undefined) pages.moveToEnd();
    else if (!(await loader.moveTo(messageId))) return false;
    setRows(list.all());
    return true;
  }

  /** Put a row, or a part of it, where it can be read. */
  reveal(
    index: number,
    partOf: (mounted: Mounted) => Element | null = () => null,
    offset = REVEAL_PX,
  ): void {
    const { follower, schedule, stage } = this.#options;
    follower.does({ kind: "placed" });
    stage.reveal(index, partOf, offset);
    schedule();
  }

  /** A snapshot begins after all that is listed: at its end, or after looking for the reader's place. */
  async lostTouch(): Promise<void> {
    const { list, loader, schedule, setRows, stage } = this.#options;
    const place = this.place();
    list.begin();
    loader.isPaused = place !== null;
    const isFound = place !== null && (await loader.moveTo(place.messageId));
    loader.isPaused = false;
    if (this.#isDestroyed) return;
    setRows(list.all());
    if (place !== null) {
      const index = isFound ? stage.indexOf(place.messageId) : 0;
      stage.reveal(index, () => null, isFound ? place.offset : REVEAL_PX);
    }
    schedule();
  }
}
