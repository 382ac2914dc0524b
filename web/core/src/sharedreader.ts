/** One conversation that a page reads through the hub, or by itself. */

import { decodeEvent } from "./codec.ts";
import { ProtocolError } from "./errors.ts";
import type { StreamEvent } from "./events.ts";
import { streamInconsistent } from "./failures.ts";
import type { ToHub } from "./hubmessages.ts";
import { decodeJson, ENVELOPED_DEPTH_MAX } from "./json.ts";
import type { LinkHandle, LinkHandler, StreamLink } from "./link.ts";
import { RESYNCS_MAX, retryPauseMs } from "./reconnecting.ts";
import type { LinkStatus } from "./stream.ts";
import { judge } from "./subscription.ts";
import type { Timing } from "./timing.ts";

/** What a reader is given by its link. */
export interface ReaderContext {
  readonly timing: Timing;
  readonly fallback: StreamLink;
  readonly key: number;
  post(message: ToHub): void;
  wake(): void;
  closed(): void;
}

/** One conversation that this page reads. */
export class SharedReader implements LinkHandle {
  readonly #conversationId: string;
  readonly #handler: LinkHandler;
  readonly #context: ReaderContext;
  #cursor: number | null;
  // Refused; what comes before the next snapshot is of no use.
  #wantsSnapshot: boolean;
  #resyncCount = 0;
  #hasProgress = false;
  #cancelResync: (() => void) | null = null;
  #own: LinkHandle | null = null;
  #isOver = false;

  constructor(
    conversationId: string,
    cursor: number | null,
    handler: LinkHandler,
    context: ReaderContext,
  ) {
    this.#conversationId = conversationId;
    this.#cursor = cursor;
    this.#wantsSnapshot = cursor === null;
    this.#handler = handler;
    this.#context = context;
  }

  cursor(): number | null {
    return this.#own === null ? this.#cursor : this.#own.cursor();
  }

  wake(): void {
    if (this.#own === null) this.#context.wake();
    else this.#own.wake();
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelResync?.();
    this.#own?.close();
    this.#context.post({ op: "close", key: this.#context.key });
    this.#context.closed();
  }

  resync(code: string): void {
    if (this.#isOver) return;
    if (this.#own !== null) {
      this.#own.resync(code);
      return;
    }
    this.#wantsSnapshot = true;
    this.#hasProgress = false;
    this.#resyncCount += 1;
    if (this.#resyncCount > RESYNCS_MAX) {
      this.#end({ kind: "ended", error: streamInconsistent(code) });
      return;
    }
    const { timing, key } = this.#context;
    const failureCount = this.#resyncCount - 1;
    const delayMs = failureCount === 0 ? 0 : retryPauseMs(failureCount, timing.random);
    this.#cancelResync?.();
    this.#cancelResync = timing.schedule(delayMs, () => this.#context.post({ op: "resync", key }));
  }

  /** Asks the hub, which does not know of this yet. */
  open(): void {
    if (this.#own !== null || this.#isOver) return;
    const cursor = this.#wantsSnapshot ? null : this.#cursor;
    const { key } = this.#context;
    this.#context.post({ op: "open", key, conversationId: this.#conversationId, cursor });
  }

  /** Reads without the hub from here on. */
  fallBack(): void {
    if (this.#own !== null || this.#isOver) return;
    this.#cancelResync?.();
    const cursor = this.#wantsSnapshot ? null : this.#cursor;
    this.#own = this.#context.fallback.open(this.#conversationId, cursor, this.#handler);
  }

  takeTexts(texts: readonly string[]): void {
    if (this.#own !== null || this.#isOver) return;
    // What was handed out before was not refused, so it fitted.
    if (this.#hasProgress) this.#resyncCount = 0;
    this.#hasProgress = false;
    const events: StreamEvent[] = [];
    const refused = this.#read(texts, events);
    if (events.length > 0) this.#handler.onEvents(events);
    if (refused !== null) this.resync(refused);
  }

  takeStatus(status: LinkStatus): void {
    if (this.#own !== null || this.#isOver) return;
    if (status.kind === "ended") this.#end(status);
    else this.#handler.onStatus(status);
  }

  #end(status: LinkStatus): void {
    this.close();
    this.#handler.onStatus(status);
  }

  /** Reads up to the first event that does not fit, and returns the code of that one. */
  #read(texts: readonly string[], events: StreamEvent[]): string | null {
    for (const text of texts) {
      try {
        const event = decodeEvent(decodeJson(text, ENVELOPED_DEPTH_MAX));
        const verdict = judge(event, this.#wantsSnapshot ? null : this.#cursor);
        if (verdict === "replaces") this.#wantsSnapshot = false;
        // Still of the time before the snapshot.
        else if (this.#wantsSnapshot || verdict === "seen") continue;
        else if (verdict === "gap") return "sequence_gap";
        else if (verdict === "next") this.#hasProgress = true;
        if (verdict !== "unnumbered") this.#cursor = event.seq ?? 0;
        events.push(event);
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        return error.code;
      }
    }
    return null;
  }
}
