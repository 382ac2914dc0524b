/**
 * The search box: what is typed, what was found, and the page after it.
 *
 * Spec: docs/spec/page/shell.md, "Search".
 */
import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { groupHits, type HitGroup, type HitLike } from "./snippets.ts";

/** After the last key, before the gateway is asked, milliseconds. */
export const PAUSE_MS = 200;
/** Hits of one page. */
export const HITS = 30;
/** The gateway takes no longer query (docs/spec/gateway/search.md); scalars. */
export const QUERY_SCALARS_MAX = 512;

export interface HitPage<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
  /** Whether older messages are not in the index yet. */
  readonly isBuilding: boolean;
}

export type FindHits<T> = (query: {
  q: string;
  limit: number;
  cursor?: string;
  tag?: string;
}) => Promise<HitPage<T>>;

export type SearchStatus = "idle" | "searching" | "done" | "failed";

export class Search<T extends HitLike> {
  /** What stands in the box. */
  readonly query: Signal<string> = signal("");
  readonly tag: Signal<string | null> = signal(null);
  readonly status: ReadonlySignal<SearchStatus>;
  readonly groups: ReadonlySignal<readonly HitGroup<T>[]>;
  readonly hasMore: ReadonlySignal<boolean>;
  readonly isBuilding: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<unknown>;

  readonly #status = signal<SearchStatus>("idle");
  readonly #hits = signal<readonly T[]>([]);
  readonly #cursor = signal<string | null>(null);
  readonly #isBuilding = signal(false);
  readonly #error = signal<unknown>(null);
  readonly #find: FindHits<T>;
  readonly #later: (work: () => void, ms: number) => () => void;
  #cancel: (() => void) | null = null;
  #asked = 0;

  constructor(find: FindHits<T>, later: (work: () => void, ms: number) => () => void = afterMs) {
    this.#find = find;
    this.#later = later;
    this.status = this.#status;
    this.isBuilding = this.#isBuilding;
    this.error = this.#error;
    this.groups = computed(() => groupHits(this.#hits.value));
    this.hasMore = computed(() => this.#cursor.value !== null);
  }

  /** Takes over what was typed; asks after a pause. */
  type(query: string): void {
    this.query.value = Array.from(query).slice(0, QUERY_SCALARS_MAX).join("");
    this.#schedule(PAUSE_MS);
  }

  setTag(tag: string | null): void {
    this.tag.value = tag;
    this.#schedule(0);
  }

  /** Asks again at once, after a failure or when something may have changed. */
  again(): void {
    this.#schedule(0);
  }

  clear(): void {
    this.type("");
  }

  async more(): Promise<void> {
    const cursor = this.#cursor.value;
    if (cursor === null || this.#status.value === "searching") return;
    await this.#ask(cursor);
  }

  #schedule(ms: number): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#asked += 1; // an answer that is under way is of no use any more
    if (!hasWord(this.query.value)) {
      batch(() => {
        this.#status.value = "idle";
        this.#hits.value = [];
        this.#cursor.value = null;
        this.#error.value = null;
      });
      return;
    }
    this.#status.value = "searching";
    this.#cancel = this.#later(() => {
      this.#cancel = null;
      void this.#ask(null);
    }, ms);
  }

  async #ask(cursor: string | null): Promise<void> {
    this.#asked += 1;
    const asked = this.#asked;
    this.#status.value = "searching";
    const tag = this.tag.value;
    try {
      const page = await this.#find({
        q: this.query.value.trim(),
        limit: HITS,
        ...(cursor === null ? {} : { cursor }),
        ...(tag === null ? {} : { tag }),
      });
      if (asked !== this.#asked) return;
      batch(() => {
        this.#hits.value = cursor === null ? page.items : [...this.#hits.value, ...page.items];
        this.#cursor.value = page.nextCursor;
        this.#isBuilding.value = page.isBuilding;
        this.#status.value = "done";
        this.#error.value = null;
      });
    } catch (error) {
      if (asked !== this.#asked) return;
      batch(() => {
        this.#status.value = "failed";
        this.#error.value = error;
        if (cursor === null) this.#hits.value = [];
      });
    }
  }
}

/** Whether there is anything in `query` that can be looked for. */
export function hasWord(query: string): boolean {
  return query
    .split(/\s+/u)
    .some((word) => !word.startsWith("-") && /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(word));
}

function afterMs(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}
