/**
 * A conversation as it is now: its state, its line of turns, and how it is kept up to date.
 *
 * Spec: docs/spec/gateway/stream.md; docs/spec/content/reducer.md.
 *
 * A feed begins with a snapshot and goes on by number. An event that does not fit asks for a new
 * snapshot, never for a guess; what never fits ends as `refused`.
 */

import { onAccess } from "./access.ts";
import { ProtocolError } from "./errors.ts";
import type { StreamEvent } from "./events.ts";
import { type GatewayError, streamEnded } from "./failures.ts";
import type { Gateway } from "./gateway.ts";
import { TurnLine } from "./line.ts";
import type { LinkHandle, LinkStatus, StreamLink } from "./link.ts";
import { apply } from "./reducer.ts";
import { type ConversationState, emptyState } from "./state.ts";

/** How a feed does. */
export interface FeedStatus {
  /**
   * `waiting`: the pause before the next attempt, at `retryAtMs`. `deleted`: the conversation is gone.
   * `refused`: there is no way on, because of `error`; {@link ConversationFeed.wake} tries anew.
   */
  readonly kind: "connecting" | "live" | "waiting" | "deleted" | "refused";
  /** Why the connection before this one is no more. */
  readonly error?: GatewayError;
  /** Unix milliseconds. */
  readonly retryAtMs?: number;
}

/** A turn that waits in line. */
export interface QueuedTurn {
  readonly turnId: string;
  /** 1 is next. */
  readonly position: number;
}

const GONE = new Set(["conversation_not_found", "conversation_deleted"]);

/** Keeps one conversation up to date until it is closed. */
export class ConversationFeed {
  readonly conversationId: string;
  readonly #gateway: Gateway;
  readonly #link: StreamLink;
  readonly #listeners = new Set<() => void>();
  readonly #line = new TurnLine();
  #state: ConversationState = emptyState;
  #status: FeedStatus = { kind: "connecting" };
  #lastError: GatewayError | undefined;
  #handle: LinkHandle | null = null;
  #isClosed = false;
  #lineReading: AbortController | null = null;
  readonly #stopListening: () => void;

  constructor(gateway: Gateway, link: StreamLink, conversationId: string) {
    this.conversationId = conversationId;
    this.#gateway = gateway;
    this.#link = link;
    this.#open(null);
    this.#stopListening = gateway.hasBearer
      ? () => undefined
      : onAccess((change) => this.#changeAccess(change === "login"));
  }

  /** What the events so far made of the conversation; another object after each change. */
  get state(): ConversationState {
    return this.#state;
  }

  /** Whether the first snapshot has come, so that an empty state means an empty conversation. */
  get isLoaded(): boolean {
    return this.#state !== emptyState;
  }

  /** The turns that wait, in order. Only the gateway's memory has them: a restart forgets them. */
  get queued(): readonly QueuedTurn[] {
    return this.#line.turns;
  }

  /**
   * Why turns left the line without a start, as far as it was told here: by turn `cancelled`,
   * `stopping`, or the code of what refused its start.
   */
  get dequeued(): ReadonlyMap<string, string> {
    return this.#line.left;
  }

  /** How the feed does. */
  get status(): FeedStatus {
    return this.#status;
  }

  /**
   * Calls `listener` once after each batch of events or change of the status, when everything above
   * has its new value; until the returned function is called.
   */
  subscribe(listener: () => void): () => void {
    // A function that is subscribed twice is called twice, and leaves once.
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** The page is shown again, the network is back, or somebody asks: try now. */
  wake(): void {
    if (this.#isClosed || this.#status.kind === "deleted") return;
    if (this.#status.kind !== "refused") {
      this.#handle?.wake();
      return;
    }
    const cursor = this.#status.error?.code === "stream_inconsistent" ? null : this.#cursor();
    this.#handle?.close();
    this.#open(cursor);
    this.#tell({ kind: "connecting" });
  }

  /** Stops; nobody is called any more. */
  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#stopListening();
    this.#lineReading?.abort();
    this.#handle?.close();
    this.#handle = null;
  }

  /** Somebody else may see more or less of the same numbers, so the state is made anew. */
  #changeAccess(isLogin: boolean): void {
    // What a logout ends, the gateway ends.
    if (!isLogin || this.#isClosed || this.#status.kind === "deleted") return;
    this.#handle?.close();
    this.#open(null);
    this.#tell({ kind: "connecting" });
  }

  #cursor(): number | null {
    return this.#state === emptyState ? null : this.#state.seq;
  }

  #open(cursor: number | null): void {
    this.#handle = this.#link.open(this.conversationId, cursor, {
      onEvents: (events) => this.#take(events),
      onStatus: (status) => this.#follow(status),
    });
  }

  #take(events: readonly StreamEvent[]): void {
    if (this.#isClosed) return;
    const before = this.#state;
    const lineBefore = this.#line.turns;
    const leftBefore = this.#line.left;
    let refusedCode: string | null = null;
    for (const event of events) {
      try {
        this.#state = apply(this.#state, event);
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        refusedCode = error.code;
        break;
      }
      this.#line.take(event);
    }
    const isOther = this.#line.turns !== lineBefore || this.#line.left !== leftBefore;
    if (this.#state !== before || isOther) this.#notify();
    if (refusedCode !== null && !this.#isClosed) this.#handle?.resync(refusedCode);
  }

  #follow(status: LinkStatus): void {
    if (this.#isClosed) return;
    switch (status.kind) {
      case "connecting":
        this.#tell(this.#withError({ kind: "connecting" }));
        return;
      case "live":
        this.#lastError = undefined;
        void this.#readLine();
        this.#tell({ kind: "live" });
        return;
      case "waiting":
        this.#lastError = status.error;
        this.#tell({ kind: "waiting", error: status.error, retryAtMs: status.retryAtMs });
        return;
      case "ended":
        this.#end(status.error);
        return;
    }
  }

  #end(error: GatewayError | undefined): void {
    const reason = error ?? streamEnded();
    this.#lastError = reason;
    this.#tell({ kind: GONE.has(reason.code) ? "deleted" : "refused", error: reason });
  }

  #withError(status: FeedStatus): FeedStatus {
    return this.#lastError === undefined ? status : { ...status, error: this.#lastError };
  }

  #tell(status: FeedStatus): void {
    this.#status = status;
    this.#notify();
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) {
      // One that left because of another one's call is not called.
      if (this.#listeners.has(listener)) call(listener);
    }
  }

  /** Who waits in line is told to live readers only; what was told before that is asked for. */
  async #readLine(): Promise<void> {
    this.#lineReading?.abort();
    const reading = new AbortController();
    this.#lineReading = reading;
    try {
      const version = this.#line.version;
      const { queued_turn_ids } = await this.#gateway.conversation(
        this.conversationId,
        reading.signal,
      );
      if (reading.signal.aborted || this.#lineReading !== reading) return;
      const before = this.#line.turns;
      if (!this.#line.replace(queued_turn_ids ?? [], version)) void this.#readLine();
      else if (this.#line.turns !== before) this.#notify();
    } catch {
      // The line is told again with the next connection; the stream says what is wrong.
    }
  }
}

function call(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    // One that fails keeps nobody else from being told.
    queueMicrotask(() => {
      throw error;
    });
  }
}
