/**
 * The list of conversations, kept as fresh as it needs to be.
 *
 * It is read by pages. While the page is seen, the first page is asked for again every
 * `POLL_MS`, by ETag, so mostly for nothing; every loaded page when the window comes back. What
 * this tab changes it shows at once, and tells the other tabs.
 *
 * Spec: docs/spec/page/shell.md, "Conversations".
 */
import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";
import { compareListed, isDraftOnly, isSame, joinPage, type Listed } from "./listing.ts";

/** Conversations of one page of the list. */
export const PAGE_ITEMS = 50;
/** So many are loaded at most, by scrolling or while titles are filtered. */
export const LISTED_MAX = 5_000;
/** Between two looks at the first page, milliseconds. */
export const POLL_MS = 10_000;
/** So many standing turns are asked about in one round, whether they wait for a person. */
const ASKED_MAX = 4;

/** What the list asks of a gateway. */
export interface ListSource<T extends Listed> {
  /** A page; null when `etag` is still what the gateway has. */
  page(
    options: { cursor?: string; limit: number },
    etag: string | null,
  ): Promise<{ items: readonly T[]; nextCursor: string | null; etag: string | null } | null>;
  /** Whether the turn waits for a person. */
  isSuspended(conversationId: string, turnId: string): Promise<boolean>;
}

/** What tabs tell each other; ids alone, and never anything that was said. */
export type ListNews =
  | { readonly kind: "changed" }
  | { readonly kind: "deleted"; readonly conversationId: string };

/** The part of `BroadcastChannel` that is used. */
export interface NewsChannel {
  postMessage(news: ListNews): void;
  onmessage: ((event: MessageEvent<ListNews>) => void) | null;
}

/** What goes on in a conversation, as the list marks it. */
export type Mark = "running" | "suspended" | null;

interface LoadedPage {
  readonly cursor: string | null;
  etag: string | null;
  /** The item before it when it was read. */
  behind: Listed | null;
  /** Its last item. */
  end: Listed | null;
  nextCursor: string | null;
}

function firstPage(): LoadedPage {
  return { cursor: null, etag: null, behind: null, end: null, nextCursor: null };
}

export class ConversationList<T extends Listed = Listed> {
  /** Newest first, without drafts. */
  readonly items: ReadonlySignal<readonly T[]>;
  /** Those that hold the files of a question that was not asked. */
  readonly drafts: ReadonlySignal<readonly T[]>;
  /** Whether the first page was read. */
  readonly isLoaded: ReadonlySignal<boolean>;
  readonly hasMore: ReadonlySignal<boolean>;
  readonly isLoading: ReadonlySignal<boolean>;
  /** What the last attempt failed with, null when it worked. */
  readonly error: ReadonlySignal<unknown>;

  readonly #items = signal<readonly T[]>([]);
  readonly #isLoaded = signal(false);
  readonly #nextCursor = signal<string | null>(null);
  readonly #isLoading = signal(false);
  readonly #error = signal<unknown>(null);
  /** By conversation: the number at which its turn was found waiting. */
  readonly #suspendedAt = signal<ReadonlyMap<string, number>>(new Map());
  /** Conversation and turn of the screen, while that turn waits for a person. */
  readonly #waiting = signal<string | null>(null);
  readonly #source: ListSource<T>;
  readonly #channel: NewsChannel | null;
  #pages: LoadedPage[] = [firstPage()];
  #heads = new Map<string, number>();
  #round: Promise<void> = Promise.resolve();
  #generation = 0;

  constructor(source: ListSource<T>, channel: NewsChannel | null = null) {
    this.#source = source;
    this.#channel = channel;
    this.items = computed(() => this.#items.value.filter((item) => !isDraftOnly(item)));
    this.drafts = computed(() => this.#items.value.filter(isDraftOnly));
    this.isLoaded = this.#isLoaded;
    this.isLoading = this.#isLoading;
    this.error = this.#error;
    this.hasMore = computed(
      () => this.#nextCursor.value !== null && this.#items.value.length < LISTED_MAX,
    );
    if (channel !== null) {
      channel.onmessage = ({ data }) => {
        if (data.kind === "deleted") this.#forget(data.conversationId);
        else void this.refresh();
      };
    }
  }

  get(conversationId: string): T | undefined {
    return this.#items.value.find((item) => item.id === conversationId);
  }

  mark(item: Listed): Mark {
    if (item.running_turn_id === undefined) return null;
    if (this.#waiting.value === `${item.id} ${item.running_turn_id}`) return "suspended";
    const isStill = this.#suspendedAt.value.get(item.id) === item.head_seq;
    return isStill ? "suspended" : "running";
  }

  /** Asks for the first page again, or with `all` for all that was loaded. */
  refresh({ all = false }: { all?: boolean } = {}): Promise<void> {
    return this.#enqueue(async () => {
      if (all) await this.#readAll();
      else await this.#read(this.#pages[0] ?? firstPage());
      await this.#askStanding();
    });
  }

  /** Loads the next page, when there is one. */
  loadMore(): Promise<void> {
    return this.#enqueue(async () => {
      const cursor = this.#nextCursor.value;
      if (cursor === null || !this.hasMore.value) return;
      const behind = this.#items.value.at(-1) ?? null;
      const page: LoadedPage = { ...firstPage(), cursor, behind };
      this.#pages.push(page);
      try {
        await this.#read(page);
      } catch (error) {
        this.#pages = this.#pages.filter((other) => other !== page);
        throw error;
      }
    });
  }

  /** Shows `item` as a change answered it, and tells the other tabs. */
  put(item: T): void {
    const others = this.#items.value.filter(({ id }) => id !== item.id);
    this.#items.value = [...others, item].sort(compareListed);
    // The answer to an older question must not undo this.
    this.#generation += 1;
    for (const page of this.#pages) page.etag = null;
    this.#channel?.postMessage({ kind: "changed" });
  }

  /** Takes over what was read of a conversation; nobody else needs to hear of it. */
  update(item: T): void {
    this.#replace(item);
  }

  /** Takes out what was deleted here, and tells the other tabs. */
  remove(conversationId: string): void {
    this.#forget(conversationId);
    this.#channel?.postMessage({ kind: "deleted", conversationId });
  }

  /** The conversation on the screen is left: of its turn the polls tell again. */
  left(): void {
    this.#waiting.value = null;
  }

  /**
   * Says of the conversation on the screen what its stream knows sooner than any poll. Whatever an
   * older answer says of it, a turn that waits goes on waiting.
   */
  note(conversationId: string, turn: { id: string; isSuspended: boolean } | null): void {
    this.#waiting.value = turn?.isSuspended ? `${conversationId} ${turn.id}` : null;
    const item = this.get(conversationId);
    if (item === undefined) return;
    const runningId = turn?.id;
    if (item.running_turn_id !== runningId) {
      this.#replace({ ...item, running_turn_id: runningId });
    }
    this.#setSuspended(
      conversationId,
      turn?.isSuspended ? this.get(conversationId)?.head_seq : undefined,
    );
  }

  /** Forgets everything: somebody else may be logged in now. */
  clear(): void {
    this.#generation += 1;
    this.#pages = [firstPage()];
    this.#heads = new Map();
    batch(() => {
      this.#items.value = [];
      this.#isLoaded.value = false;
      this.#nextCursor.value = null;
      this.#error.value = null;
      this.#suspendedAt.value = new Map();
    });
  }

  // One question after the other: two answers about one page never overtake each other.
  #enqueue(work: () => Promise<void>): Promise<void> {
    const run = this.#round.then(async () => {
      this.#isLoading.value = true;
      try {
        await work();
        this.#error.value = null;
      } catch (error) {
        this.#error.value = error;
      } finally {
        this.#isLoading.value = false;
      }
    });
    this.#round = run;
    return run;
  }

  async #read(page: LoadedPage): Promise<void> {
    const generation = this.#generation;
    const answer = await this.#source.page(
      { limit: PAGE_ITEMS, ...(page.cursor === null ? {} : { cursor: page.cursor }) },
      page.etag,
    );
    if (answer === null || generation !== this.#generation) return;
    page.etag = answer.etag;
    page.end = answer.items.at(-1) ?? null;
    page.nextCursor = answer.nextCursor;
    batch(() => {
      const isEnd = answer.nextCursor === null;
      const known = this.#items.value;
      const joined = joinPage(known, { items: answer.items, behind: page.behind, isEnd });
      if (!isSameList(joined, known)) this.#items.value = joined;
      // Only the page that ends the list says where it goes on.
      if (this.#pages.at(-1) === page) this.#nextCursor.value = answer.nextCursor;
      this.#isLoaded.value = true;
    });
  }

  /**
   * Walks through all that is listed. Pages begin where the page before ends now: what came or went
   * has moved their ends, and between old ends nothing may be left out.
   */
  async #readAll(): Promise<void> {
    const generation = this.#generation;
    const before = new Map(this.#pages.map((page) => [page.cursor, page]));
    const oldest = this.#items.value.at(-1) ?? null;
    const pages: LoadedPage[] = [];
    for (let cursor: string | null = null, behind: Listed | null = null; ; ) {
      const page: LoadedPage = before.get(cursor) ?? { ...firstPage(), cursor };
      page.behind = behind;
      await this.#read(page);
      if (generation !== this.#generation) return;
      pages.push(page);
      if (page.nextCursor === null) break;
      const { end }: LoadedPage = page;
      if (oldest === null || end === null || compareListed(end, oldest) >= 0) break;
      cursor = page.nextCursor;
      behind = end;
    }
    this.#pages = pages;
    this.#nextCursor.value = pages.at(-1)?.nextCursor ?? null;
  }

  /** A turn whose conversation did not move for a round may be waiting for a person. */
  async #askStanding(): Promise<void> {
    const running = this.#items.value.filter((item) => item.running_turn_id !== undefined);
    const standing = running.filter(
      (item) => this.#heads.get(item.id) === item.head_seq && this.mark(item) === "running",
    );
    this.#heads = new Map(running.map((item) => [item.id, item.head_seq]));
    for (const item of standing.slice(0, ASKED_MAX)) {
      const turnId = item.running_turn_id;
      if (turnId === undefined) continue;
      if (await this.#source.isSuspended(item.id, turnId)) {
        this.#setSuspended(item.id, item.head_seq);
      }
    }
  }

  #setSuspended(conversationId: string, headSeq: number | undefined): void {
    if (this.#suspendedAt.value.get(conversationId) === headSeq) return;
    const marks = new Map(this.#suspendedAt.value);
    if (headSeq === undefined) marks.delete(conversationId);
    else marks.set(conversationId, headSeq);
    this.#suspendedAt.value = marks;
  }

  #replace(item: T): void {
    this.#items.value = this.#items.value.map((old) =>
      old.id === item.id && !isSame(old, item) ? item : old,
    );
  }

  #forget(conversationId: string): void {
    this.#generation += 1;
    this.#items.value = this.#items.value.filter(({ id }) => id !== conversationId);
    for (const page of this.#pages) page.etag = null;
  }
}

function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
