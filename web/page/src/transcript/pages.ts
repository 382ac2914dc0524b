/**
 * Older messages, in pages: which are loaded, where others are found, which go first.
 *
 * What is loaded is one stretch of the conversation without holes; it is *joined* where it reaches the live
 * state. Each page knows the cursors at both of its ends, so that a stretch can begin anywhere, at a message that was
 * looked up, and what was dropped can be asked for again. A search reads pages back from the live state besides.
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

/** Which page: before or after a cursor, or around a message. */
export type PagePlace =
  | { readonly before: string }
  | { readonly after: string }
  | { readonly around: string };

/** A page as a gateway gives it. With `after` the next cursor goes on after it, else before it; the previous one at the other end. */
export interface GivenPage {
  readonly items: readonly MessageState[];
  readonly next_cursor: string | null;
  readonly previous_cursor: string | null;
}

/** What is asked of a gateway. */
export interface MessageSource {
  messages(
    conversationId: string,
    options: PagePlace & { limit: number; max_bytes: number },
  ): Promise<GivenPage>;
}

/** A page that was read. */
export interface Page {
  readonly items: readonly MessageState[];
  /** The cursor it was read by, if it was read backwards. */
  readonly before: string | null;
  /** Cursor of what is before it; null where nothing is. */
  readonly older: string | null;
  /** Cursor of what is after it; null where that is the live state, or was once. */
  readonly newer: string | null;
}

/** Which end of what is loaded. */
export type Side = "older" | "newer";

/** Tells messages that the live state holds. */
export type IsLive = (id: string) => boolean;

export class Pages {
  readonly #source: MessageSource;
  readonly #conversationId: string;
  /** Cursors of the pages back from the live state, as far as somebody read. */
  #chain: string[] = [];
  /** Loaded, oldest first. */
  #pages: Page[] = [];
  #isJoined = true;
  /** Answers to what was asked before a change of what is loaded are not for it. */
  #generation = 0;
  /** The same of the chain. */
  #chainGeneration = 0;
  #moves = 0;

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
    return this.#older !== null;
  }

  /** Begin anew where a live state begins: nothing is loaded. */
  reset(moreBefore: string | null): void {
    this.#beginChain(moreBefore);
    this.#set([], true);
  }

  /** The live state begins later now; `items` are what it had before that. */
  rebase(moreBefore: string | null, items: readonly MessageState[]): void {
    if (moreBefore === null) {
      this.reset(null);
      return;
    }
    const older = this.#chain[0] ?? null;
    this.#beginChain(moreBefore);
    if (!this.#isJoined) return;
    this.#set([...this.#pages, { items, before: moreBefore, older, newer: null }], true);
  }

  /**
   * Read the next page on a side, and keep it. On the newer side it ends where the live state begins.
   *
   * @returns whether anything changed; false if there is nothing, or what is loaded changed meanwhile.
   * @throws GatewayError as the gateway answers.
   */
  async load(side: Side, isLive: IsLive): Promise<boolean> {
    const generation = this.#generation;
    const page = side === "older" ? await this.#readOlder() : await this.#readNewer();
    if (page === null || generation !== this.#generation) return false;
    const known = this.#ids();
    const fresh = { ...page, items: page.items.filter(({ id }) => !known.has(id)) };
    if (side === "older") this.#set([fresh, ...this.#pages], this.#isJoined);
    else this.#join([...this.#pages, fresh], isLive);
    return true;
  }

  /**
   * Read the page that is so many pages before the live state, without keeping it; learns where the one before
   * it is.
   *
   * @returns null where no cursor for it is known.
   */
  async read(index: number): Promise<Page | null> {
    const before = this.#chain[index];
    if (before === undefined) return null;
    const generation = this.#chainGeneration;
    const loaded = this.#pages.find((page) => page.before === before);
    const page = loaded ?? (await this.#readBefore(before));
    if (generation !== this.#chainGeneration) return null;
    if (this.#chain.length === index + 1 && page.older !== null) this.#chain.push(page.older);
    return page;
  }

  /**
   * Let one page be all that is loaded: that with a message, or with `after` 0 the first one.
   *
   * @returns false if somebody asked to be elsewhere meanwhile.
   * @throws GatewayError as the gateway answers; `message_not_found`.
   */
  async moveTo(place: { around: string } | { after: "0" }, isLive: IsLive): Promise<boolean> {
    this.#moves += 1;
    const move = this.#moves;
    const given = await this.#ask(place);
    if (move !== this.#moves) return false;
    const { items, next_cursor, previous_cursor } = given;
    const [older, newer] = "after" in place ? [null, next_cursor] : [next_cursor, previous_cursor];
    this.#join([{ items, before: null, older, newer }], isLive);
    return true;
  }

  /** Let nothing but the live state be loaded. */
  moveToEnd(): void {
    this.#moves += 1;
    this.#set([], true);
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
    if (side === "older") this.#set(this.#pages.slice(1), this.#isJoined);
    else this.#set(this.#pages.slice(0, -1), false);
  }

  get #older(): string | null {
    const first = this.#pages[0];
    return first === undefined ? (this.#chain[0] ?? null) : first.older;
  }

  #set(pages: Page[], isJoined: boolean): void {
    this.#generation += 1;
    this.#pages = pages;
    this.#isJoined = isJoined;
  }

  /** The last page may reach into the live state, whose own messages are newer. */
  #join(pages: Page[], isLive: IsLive): void {
    const last = pages.at(-1);
    if (last === undefined) return;
    const at = last.items.findIndex(({ id }) => isLive(id));
    if (at >= 0) pages[pages.length - 1] = { ...last, items: last.items.slice(0, at), newer: null };
    this.#set(pages, at >= 0 || last.newer === null);
  }

  #beginChain(moreBefore: string | null): void {
    this.#chainGeneration += 1;
    this.#chain = moreBefore === null ? [] : [moreBefore];
  }

  #ids(): Set<string> {
    return new Set(this.#pages.flatMap((page) => page.items.map(({ id }) => id)));
  }

  async #readOlder(): Promise<Page | null> {
    const before = this.#older;
    return before === null ? null : this.#readBefore(before);
  }

  async #readNewer(): Promise<Page | null> {
    if (this.#isJoined) return null;
    let after = this.#pages.at(-1)?.newer ?? null;
    if (after === null) {
      // What was live once: where it ends only its last message knows.
      const around = this.#pages.flatMap(({ items }) => items).at(-1)?.id;
      if (around === undefined) return null;
      const { items, next_cursor, previous_cursor } = await this.#ask({ around });
      const behind = items.slice(items.findIndex(({ id }) => id === around) + 1);
      const page = { items: behind, before: null, older: next_cursor, newer: previous_cursor };
      if (behind.length > 0 || previous_cursor === null) return page;
      after = previous_cursor;
    }
    const { items, next_cursor, previous_cursor } = await this.#ask({ after });
    return { items, before: null, older: previous_cursor, newer: next_cursor };
  }

  async #readBefore(before: string): Promise<Page> {
    const { items, next_cursor, previous_cursor } = await this.#ask({ before });
    return { items, before, older: next_cursor, newer: previous_cursor };
  }

  #ask(place: PagePlace): Promise<GivenPage> {
    return this.#source.messages(this.#conversationId, {
      ...place,
      limit: PAGE_MESSAGES,
      max_bytes: PAGE_BYTES,
    });
  }
}
