/**
 * Older messages, in pages: which are loaded, where others are found, which go first.
 *
 * A conversation is a chain of pages that goes back from where the live state begins. Each page is known by
 * the cursor that asks for it, so that it can be dropped and asked for again. What is loaded is one stretch
 * of the chain without holes; it is *joined* where it reaches the live state.
 *
 * Spec: docs/spec/page/transcript.md.
 */
import type { MessageState } from "@blockwire/core";

/** Messages of one page. Smaller than the gateway allows: a page that comes must not be felt. */
export const PAGE_MESSAGES = 50;

/** JSON bytes of one page; one message always fits. What a gateway allows if nobody changed it. */
export const PAGE_BYTES = 1_048_576;

/** Messages kept outside of the live state, unless they are seen. */
export const KEPT_MESSAGES_MAX = 400;

/** Pages kept outside of the live state, unless they are seen: with `PAGE_BYTES` 8 MiB. */
export const KEPT_PAGES_MAX = 8;

/** What is asked of a gateway. The cursor is that of the page after it. */
export interface MessageSource {
  messages(
    conversationId: string,
    options: { before: string; limit: number; max_bytes: number },
  ): Promise<{ readonly items: readonly MessageState[]; readonly next_cursor: string | null }>;
}

/** A page that was read; `index` counts back from the live state. */
export interface Page {
  readonly index: number;
  readonly items: readonly MessageState[];
}

/** Which end of what is loaded. */
export type Side = "older" | "newer";

export class Pages {
  readonly #source: MessageSource;
  readonly #conversationId: string;
  /** Cursor of each page that is known of, newest first. */
  #cursors: string[] = [];
  /** Loaded, oldest first, indices falling by one. */
  #pages: Page[] = [];
  #isJoined = true;
  /** Answers to what was asked before a change of the chain are not for it. */
  #generation = 0;

  constructor(source: MessageSource, conversationId: string) {
    this.#source = source;
    this.#conversationId = conversationId;
  }

  /** Whether the newest loaded message is followed by the live state. */
  get isJoined(): boolean {
    return this.#isJoined;
  }

  /** Loaded pages, oldest first. */
  get loaded(): readonly Page[] {
    return this.#pages;
  }

  get messageCount(): number {
    return this.#pages.reduce((sum, page) => sum + page.items.length, 0);
  }

  /** Whether there is something before what is loaded. */
  get hasOlder(): boolean {
    return this.#cursors[this.#olderIndex()] !== undefined;
  }

  /** Begin anew where a live state begins: nothing is loaded. */
  reset(moreBefore: string | null): void {
    this.#generation += 1;
    this.#cursors = moreBefore === null ? [] : [moreBefore];
    this.#pages = [];
    this.#isJoined = true;
  }

  /** The live state begins later now; `items` are what it had before that. */
  rebase(moreBefore: string | null, items: readonly MessageState[]): void {
    if (moreBefore === null) {
      this.reset(null);
      return;
    }
    this.#generation += 1;
    this.#cursors.unshift(moreBefore);
    this.#pages = this.#pages.map((page) => ({ ...page, index: page.index + 1 }));
    if (this.#isJoined) this.#pages.push({ index: 0, items });
  }

  /**
   * Read the next page on a side, and keep it. On the newer side the live state itself may be next: then it is
   * joined without a question.
   *
   * @returns whether anything changed; false if there is nothing, or the chain changed meanwhile.
   * @throws GatewayError as the gateway answers.
   */
  async load(side: Side): Promise<boolean> {
    if (side === "newer") return this.#loadNewer();
    const generation = this.#generation;
    const page = await this.read(this.#olderIndex());
    if (page === null || generation !== this.#generation) return false;
    if (page.index !== this.#olderIndex()) return false;
    const known = this.#ids();
    this.#pages.unshift({ ...page, items: page.items.filter(({ id }) => !known.has(id)) });
    return true;
  }

  /**
   * Read any page of the chain without keeping it; learns where the one before it is.
   *
   * @returns null where no cursor for it is known.
   */
  async read(index: number): Promise<Page | null> {
    const before = this.#cursors[index];
    if (before === undefined) return null;
    const generation = this.#generation;
    const { items, next_cursor } = await this.#ask(before);
    if (generation !== this.#generation) return null;
    // The same page ends elsewhere than it did if another stretch was kept in its place.
    if (this.#cursors[index + 1] !== (next_cursor ?? undefined)) {
      this.#cursors.length = index + 1;
      if (next_cursor !== null) this.#cursors.push(next_cursor);
    }
    return { index, items };
  }

  /** Let a page that was read be all that is loaded. */
  moveTo(page: Page): void {
    this.#generation += 1;
    this.#pages = [page];
    this.#isJoined = false;
  }

  /** Let nothing but the live state be loaded. */
  moveToEnd(): void {
    this.#generation += 1;
    this.#pages = [];
    this.#isJoined = true;
  }

  /** Whether more is kept than the bounds allow. */
  get isOver(): boolean {
    return this.#pages.length > KEPT_PAGES_MAX || this.messageCount > KEPT_MESSAGES_MAX;
  }

  /** Messages that `drop` would take on a side. On the newer side the live state goes with the first page. */
  dropped(side: Side): readonly MessageState[] {
    return (side === "older" ? this.#pages[0] : this.#pages.at(-1))?.items ?? [];
  }

  /** Forget the outermost page of a side. */
  drop(side: Side): void {
    if (this.#pages.length < 2) return;
    this.#generation += 1;
    if (side === "older") this.#pages.shift();
    else {
      this.#pages.pop();
      this.#isJoined = false;
    }
  }

  #olderIndex(): number {
    const first = this.#pages[0];
    return first === undefined ? 0 : first.index + 1;
  }

  #ids(): Set<string> {
    return new Set(this.#pages.flatMap((page) => page.items.map(({ id }) => id)));
  }

  async #loadNewer(): Promise<boolean> {
    const last = this.#pages.at(-1);
    if (this.#isJoined || last === undefined) return false;
    if (last.index === 0) {
      this.#isJoined = true;
      return true;
    }
    const generation = this.#generation;
    const chain = this.#cursors.slice(last.index);
    const page = await this.read(last.index - 1);
    if (page === null || generation !== this.#generation) return false;
    const known = this.#ids();
    let items = page.items;
    let next = this.#cursors[last.index];
    // What stood in its place may have been longer than a page: then up to where that began.
    while (next !== undefined && next !== chain[0] && !items.some(({ id }) => known.has(id))) {
      const more = await this.#ask(next);
      if (generation !== this.#generation) return false;
      items = [...more.items, ...items];
      next = more.next_cursor ?? undefined;
    }
    this.#cursors = [...this.#cursors.slice(0, last.index), ...chain];
    this.#pages.push({ index: page.index, items: items.filter(({ id }) => !known.has(id)) });
    return true;
  }

  #ask(before: string): ReturnType<MessageSource["messages"]> {
    return this.#source.messages(this.#conversationId, {
      before,
      limit: PAGE_MESSAGES,
      max_bytes: PAGE_BYTES,
    });
  }
}
