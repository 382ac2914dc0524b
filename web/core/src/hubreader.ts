/** One page that reads one conversation through the hub, until it has caught up and from then on. */

import { GatewayError, streamInconsistent, unreachable } from "./failures.ts";
import type { HubIo, HubPage } from "./hubio.ts";
import type { Frame } from "./multiplex.ts";
import { retryPauseMs } from "./reconnecting.ts";
import type { LinkStatus } from "./stream.ts";

/** Pages that a reader reads before it takes a snapshot instead: it is too far behind. */
export const CATCH_UP_PAGES_MAX = 8;

/** Pages in a row without a pause, snapshots among them. */
export const ROUND_PAGES_MAX = 2 * CATCH_UP_PAGES_MAX;

/** UTF-16 units of frames that are kept for a reader while it catches up; beyond, it reads pages. */
export const KEPT_UNITS_MAX = 4_000_000;

/** Who a reader is, and whom it tells. */
export interface HubReaderOptions {
  readonly conversationId: string;
  readonly cursor: number | null;
  readonly io: HubIo;
  send(texts: string[]): void;
  tell(status: LinkStatus): void;
  /**
   * It has all up to this number; returns how the stream does that goes on from there, or null when
   * that is ahead already.
   */
  caughtUp(cursor: number): LinkStatus | null;
  /** The page has to read by itself. */
  full(): void;
  closed(): void;
}

/** Hands frames to one page, each once and in order. */
export class HubReader {
  readonly #options: HubReaderOptions;
  #cursor: number | null;
  #outbox: string[] = [];
  // While it catches up: what the stream brought meanwhile.
  #catchingUp: AbortController | null = null;
  #kept: Frame[] = [];
  #keptUnits = 0;
  #hasOverflowed = false;
  #cancelPause: (() => void) | null = null;
  #failureCount = 0;
  // How often in a row the stream was ahead of what the pages told.
  #behindCount = 0;
  #isClosed = false;

  constructor(options: HubReaderOptions) {
    this.#options = options;
    this.#cursor = options.cursor;
  }

  /**
   * Begins.
   *
   * @param streamCursor Where the stream of the conversation is; null while it is not read.
   */
  start(streamCursor: number | null): void {
    const isOnTime = this.#cursor !== null && (streamCursor ?? this.#cursor) === this.#cursor;
    if (isOnTime) this.#goLive();
    else this.#catchUp();
  }

  /** Forgets where it was and begins with a snapshot. */
  resync(): void {
    this.#cursor = null;
    this.#outbox = [];
    this.#catchUp();
  }

  /** Takes a frame of the stream; {@link flush} sends it. */
  take(frame: Frame): void {
    if (this.#catchingUp !== null) this.#keep(frame);
    else if (!this.#put(frame)) {
      // Something is missing between what this page has and what the stream brings.
      this.flush();
      this.#catchUp();
      this.#keep(frame);
    }
  }

  /** Sends what was taken. */
  flush(): void {
    if (this.#outbox.length === 0 || this.#isClosed) return;
    const texts = this.#outbox;
    this.#outbox = [];
    this.#options.send(texts);
  }

  /** Takes how the stream does; while it catches up, it does better or worse than that. */
  follow(status: LinkStatus): void {
    if (this.#catchingUp === null) this.tell(status);
  }

  /** Tells the page how it does. */
  tell(status: LinkStatus): void {
    if (!this.#isClosed) this.#options.tell(status);
  }

  /** Tries now what waits. */
  wake(): void {
    this.#failureCount = 0;
    if (this.#cancelPause !== null) this.#catchUp();
  }

  /** Stops, and tells the page why there is no way on. */
  end(error: GatewayError): void {
    this.tell({ kind: "ended", error });
    this.close();
  }

  /** Stops: the page goes on by itself. */
  handBack(): void {
    this.flush();
    this.#options.full();
    this.close();
  }

  /** Stops. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopCatchingUp();
    this.#options.closed();
  }

  /** Returns false when the frame is not the next one. */
  #put(frame: Frame): boolean {
    if (frame.type === "conversation.snapshot") this.#cursor = frame.seq;
    else if (frame.seq > 0) {
      if (this.#cursor === null || frame.prevSeq > this.#cursor) return false;
      if (frame.seq <= this.#cursor) return true;
      this.#cursor = frame.seq;
    }
    this.#outbox.push(frame.text);
    return true;
  }

  /** A snapshot of what the pages have told already. */
  #isOld(frame: Frame): boolean {
    if (frame.type !== "conversation.snapshot" || frame.isReset) return false;
    return frame.seq <= (this.#cursor ?? 0);
  }

  #keep(frame: Frame): void {
    this.#kept.push(frame);
    this.#keptUnits += frame.text.length;
    if (this.#keptUnits <= KEPT_UNITS_MAX) return;
    this.#kept = [];
    this.#keptUnits = 0;
    this.#hasOverflowed = true;
  }

  #stopCatchingUp(): void {
    this.#catchingUp?.abort();
    this.#catchingUp = null;
    this.#cancelPause?.();
    this.#cancelPause = null;
    this.#kept = [];
    this.#keptUnits = 0;
    this.#hasOverflowed = false;
  }

  #catchUp(): void {
    this.#stopCatchingUp();
    if (this.#isClosed) return;
    const round = new AbortController();
    this.#catchingUp = round;
    this.tell({ kind: "connecting" });
    void this.#readPages(round);
  }

  async #readPages(round: AbortController): Promise<void> {
    const { io, conversationId } = this.#options;
    try {
      for (let pageCount = 1; ; pageCount += 1) {
        // What never comes to an end, a copy in a cache for instance, is not asked for in a busy loop.
        if (pageCount > ROUND_PAGES_MAX) {
          throw streamInconsistent("pages_without_end", { retryable: true });
        }
        const after = pageCount > CATCH_UP_PAGES_MAX ? null : this.#cursor;
        const page = await io.page(conversationId, after, round.signal);
        if (this.#catchingUp !== round) return;
        if (!this.#takePage(page)) this.#cursor = null;
        else if (page.atEnd && !this.#hasOverflowed) break;
        if (page.atEnd) this.#hasOverflowed = false;
      }
    } catch (error) {
      if (this.#catchingUp !== round) return;
      this.#failed(error instanceof GatewayError ? error : unreachable());
      return;
    }
    this.#failureCount = 0;
    this.#takeKept();
  }

  /** Returns false when the page does not fit. */
  #takePage(page: HubPage): boolean {
    for (const frame of page.frames) if (!this.#put(frame)) return false;
    if (this.#cursor === null) return false;
    // What is withheld from this view has a number, too.
    if (page.nextCursor > this.#cursor) this.#cursor = page.nextCursor;
    this.flush();
    return true;
  }

  #takeKept(): void {
    const kept = this.#kept;
    for (const [at, frame] of kept.entries()) {
      if (this.#isOld(frame) || this.#put(frame)) continue;
      this.flush();
      const rest = kept.slice(at);
      this.#catchUp();
      for (const one of rest) this.#keep(one);
      return;
    }
    this.flush();
    this.#goLive();
  }

  #goLive(): void {
    const status = this.#options.caughtUp(this.#cursor ?? 0);
    if (status === null) {
      this.#readOn();
      return;
    }
    this.#stopCatchingUp();
    this.#behindCount = 0;
    this.tell(status);
  }

  /** A page was made before the stream began, and came after that: what is between came by neither. */
  #readOn(): void {
    this.#behindCount += 1;
    if (this.#behindCount === 1) {
      this.#catchUp();
      return;
    }
    // Pages that stay behind the stream are not asked for in a busy loop.
    const delayMs = retryPauseMs(this.#behindCount - 1, this.#options.io.timing.random);
    this.#cancelPause = this.#options.io.timing.schedule(delayMs, () => this.#catchUp());
  }

  #failed(error: GatewayError): void {
    if (!error.retryable) {
      this.end(error);
      return;
    }
    const { timing } = this.#options.io;
    this.#failureCount += 1;
    const pause = retryPauseMs(this.#failureCount, timing.random);
    const delayMs = pause + (error.retryAfterS ?? 0) * 1000;
    this.#cancelPause = timing.schedule(delayMs, () => this.#catchUp());
    this.tell({ kind: "waiting", error, retryAtMs: timing.nowMs() + delayMs });
  }
}
