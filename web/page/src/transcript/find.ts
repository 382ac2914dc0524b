/**
 * Find in a conversation: over everything, also what is neither drawn nor loaded.
 *
 * The live state is looked through at once and again as it changes; older messages are read page by page, newest
 * first, and only the places of what was found are kept.
 *
 * Spec: docs/spec/page/transcript.md.
 */
import type { ConversationState, MessageState } from "@blockwire/core";
import { type FindTarget, FindView } from "./findview.ts";
import { type Current, type Found, type Match, Matches, search } from "./matches.ts";
import type { Pages } from "./pages.ts";
import { folded } from "./plain.ts";

/** Matches whose places are kept; the oldest beyond are not looked for. */
export const MATCHES_MAX = 10_000;

/** Milliseconds between looks at a text that grows. */
const AGAIN_MS = 300;

/** Milliseconds of a slice of work. */
const SLICE_MS = 8;

/** Characters of a query. */
export const QUERY_MAX = 512;

export interface FindStatus {
  readonly query: string;
  /** From 1 in conversation order; 0 where there is no match. */
  readonly at: number;
  readonly count: number;
  readonly isSearching: boolean;
  /** Messages that were looked through. */
  readonly searched: number;
  /** A page could not be read: what is before it was not searched. */
  readonly isFailed: boolean;
  /** There are more matches than are kept. */
  readonly isFull: boolean;
}

/** What was found in a state of a message. */
interface Known {
  readonly state: MessageState;
  readonly found: Found;
}

export interface FindOptions {
  readonly pages: Pages;
  state(): ConversationState;
  readonly target: FindTarget;
}

export class FindController {
  readonly #options: FindOptions;
  readonly #view: FindView;
  readonly #listeners = new Set<() => void>();
  /** Folded. */
  #query = "";
  #typed = "";
  #matches = new Matches();
  #known = new Map<string, Known>();
  #searchedOlder = 0;
  #current: Current | null = null;
  #run = 0;
  #isSearching = false;
  #isFailed = false;
  #again: ReturnType<typeof setTimeout> | null = null;
  #moreBefore: string | null = null;

  constructor(options: FindOptions) {
    this.#options = options;
    this.#view = new FindView(options.target, () => ({
      query: this.#query,
      matches: this.#matches,
      current: this.#current,
    }));
  }

  /** What there is to tell. */
  get status(): FindStatus {
    const count = this.#matches.count;
    return {
      query: this.#typed,
      at: this.#matches.position(this.#current),
      count,
      isSearching: this.#isSearching,
      searched: this.#known.size + this.#searchedOlder,
      isFailed: this.#isFailed,
      isFull: count >= MATCHES_MAX,
    };
  }

  /** Calls back when `status` changed; returns how to stop that. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Look for something else; the first match from where the reader is on becomes the current one. */
  async search(typed: string): Promise<void> {
    const query = folded(typed.slice(0, QUERY_MAX)).trim();
    this.#typed = typed;
    if (query === this.#query && (this.#isSearching || !this.#isFailed)) return;
    this.cancel();
    this.#clear();
    this.#query = query;
    if (query === "") {
      this.#view.clear();
      this.#tell();
      return;
    }
    await this.#searchAll();
  }

  /** Stop where the search is; what was found stays. */
  cancel(): void {
    this.#run += 1;
    this.#isSearching = false;
  }

  /** End the search: nothing is marked any more. */
  close(): void {
    void this.search("");
  }

  async next(): Promise<void> {
    await this.#step(1);
  }

  async previous(): Promise<void> {
    await this.#step(-1);
  }

  /** The live state changed. Looks again after a while, once. */
  changed(): void {
    if (this.#query === "" || this.#again !== null) return;
    this.#again = setTimeout(() => {
      this.#again = null;
      void this.#lookAgain();
    }, AGAIN_MS);
  }

  /** A message came into the document. */
  mounted(messageId: string): void {
    if (this.#query !== "" && this.#matches.find(messageId) !== undefined) this.#view.paintSoon();
  }

  destroy(): void {
    this.cancel();
    if (this.#again !== null) clearTimeout(this.#again);
    this.#view.destroy();
    this.#listeners.clear();
  }

  // Looking -----------------------------------------------------------------------------------
  async #searchAll(): Promise<void> {
    const run = this.#run;
    this.#isSearching = true;
    this.#isFailed = false;
    this.#moreBefore = this.#options.state().moreBefore;
    if (!(await this.#searchLive(run))) return;
    const place = this.#options.target.place()?.messageId ?? null;
    const isLive = place === null || this.#options.state().message(place) !== undefined;
    if (isLive && this.#matches.count > 0) await this.#show(this.#firstFrom(place));
    try {
      await this.#searchOlder(run, isLive ? null : place);
    } catch {
      if (run === this.#run) this.#isFailed = true;
    }
    if (run !== this.#run) return;
    this.#isSearching = false;
    if (this.#current === null) await this.#show(this.#matches.at(this.#matches.count));
    this.#tell();
  }

  /** Returns false if another search took over. */
  async #searchLive(run: number): Promise<boolean> {
    const state = this.#options.state();
    const live: Found[] = [];
    const known = new Map<string, Known>();
    let began = performance.now();
    for (let at = 0; at < state.count; at += 1) {
      const message = state.at(at);
      const before = this.#known.get(message.id);
      const found = before?.state === message ? before.found : search(message, this.#query);
      known.set(message.id, { state: message, found });
      if (found.count > 0) live.push(found);
      if (performance.now() - began < SLICE_MS) continue;
      await pause();
      if (run !== this.#run) return false;
      began = performance.now();
    }
    this.#matches.live = live;
    this.#known = known;
    this.#tell();
    return true;
  }

  /** Newest first; `place` is the reader's message if it is among the older ones. */
  async #searchOlder(run: number, place: string | null): Promise<void> {
    const { pages } = this.#options;
    let isReached = place === null;
    for (let index = 0; this.#matches.count < MATCHES_MAX; index += 1) {
      const page = await pages.read(index);
      if (run !== this.#run || page === null) return;
      for (let at = page.items.length - 1; at >= 0; at -= 1) {
        const message = page.items[at];
        if (message === undefined || this.#known.has(message.id)) continue;
        this.#searchedOlder += 1;
        this.#matches.addOlder(search(message, this.#query));
        if (message.id !== place) continue;
        isReached = true;
        // Found so far is what stands from the reader's message on.
        if (this.#matches.count > 0) await this.#show(this.#matches.at(1));
        if (run !== this.#run) return;
      }
      if (isReached && this.#current === null) {
        await this.#show(this.#matches.at(this.#matches.olderCount));
        if (run !== this.#run) return;
      }
      this.#tell();
      await pause();
      if (run !== this.#run) return;
    }
  }

  async #lookAgain(): Promise<void> {
    if (this.#query === "") return;
    const { moreBefore } = this.#options.state();
    if (moreBefore !== this.#moreBefore) {
      // The live state begins elsewhere: what was found before it may be counted twice, or not at all.
      this.cancel();
      const current = this.#current;
      this.#clear();
      this.#current = current;
      await this.#searchAll();
      return;
    }
    if (await this.#searchLive(this.#run)) this.#view.paintSoon();
  }

  #clear(): void {
    this.#matches = new Matches();
    this.#known = new Map();
    this.#searchedOlder = 0;
    this.#current = null;
  }

  // Matches -----------------------------------------------------------------------------------
  async #step(by: 1 | -1): Promise<void> {
    const count = this.#matches.count;
    if (count === 0) return;
    const at = this.#matches.position(this.#current);
    const next = at === 0 ? (by === 1 ? 1 : count) : ((at - 1 + by + count) % count) + 1;
    await this.#show(this.#matches.at(next));
  }

  /** The first match from a message of the live state on; else the last one before it. */
  #firstFrom(place: string | null): Match | null {
    const state = this.#options.state();
    const after = new Set<string>();
    for (let at = state.count - 1; at >= 0 && place !== null; at -= 1) {
      const id = state.order.at(at) ?? "";
      after.add(id);
      if (id === place) break;
    }
    let position = this.#matches.olderCount + 1;
    for (const found of this.#matches.live) {
      if (after.has(found.messageId)) return this.#matches.at(position);
      position += found.count;
    }
    return this.#matches.at(this.#matches.count);
  }

  // Showing -----------------------------------------------------------------------------------
  async #show(match: Match | null): Promise<void> {
    if (match === null) return;
    const current = { messageId: match.found.messageId, blockId: match.blockId, nth: match.nth };
    this.#current = current;
    this.#tell();
    await this.#view.show(match, current);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Let everything else go first. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
