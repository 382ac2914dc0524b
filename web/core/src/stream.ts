/**
 * Drives a {@link StreamSource}: connects, reads, waits, and tells how the connection does.
 *
 * Spec: docs/spec/gateway/stream.md, "Reading well". The driver decides nothing; a byte that does not
 * come for too long is a failure like any other.
 */

import { GatewayError, unreachable } from "./failures.ts";
import {
  type Effect,
  HEARTBEAT_MS,
  SILENCE_MS,
  type StreamHead,
  type StreamRequest,
  type StreamSource,
} from "./reconnecting.ts";
import type { Timing } from "./timing.ts";

/** Bytes of an answer that is no stream which are read for its error. */
export const REFUSAL_BYTES_MAX = 65_536;

/** A connection that was silent for so long is not trusted after the machine or the page slept. */
export const STALE_MS = HEARTBEAT_MS + 5_000;

/** An answer whose head is there. */
export interface StreamAnswer extends StreamHead {
  /** The bytes of a stream as they come; empty where the status is not 200. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Makes one connection; given up by the signal.
 *
 * @throws GatewayError, or anything else for a network that failed.
 */
export type Connect = (request: StreamRequest, signal: AbortSignal) => Promise<StreamAnswer>;

/** How the connection of a stream does. */
export type LinkStatus =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** The pause before the next attempt; `retryAtMs` is Unix milliseconds. */
  | { readonly kind: "waiting"; readonly error: GatewayError; readonly retryAtMs: number }
  /** There is no way on; or, without an error, nothing is to come. */
  | { readonly kind: "ended"; readonly error?: GatewayError };

/** Who hears of a stream. Neither may throw. */
export interface StreamSink<Item> {
  /** What one read brought, in order; never nothing. */
  onItems(items: Item[]): void;
  onStatus(status: LinkStatus): void;
}

/** Reads one source until it ends or is closed. */
export class StreamDriver<Item> {
  readonly #source: StreamSource<Item>;
  readonly #connect: Connect;
  readonly #timing: Timing;
  readonly #sink: StreamSink<Item>;
  #abort: AbortController | null = null;
  #stopTimer: (() => void) | null = null;
  #isClosed = false;
  #isRunning = false;
  #isEnded = false;
  #lastByteMs = 0;
  #dropCount = 0;

  constructor(
    source: StreamSource<Item>,
    connect: Connect,
    timing: Timing,
    sink: StreamSink<Item>,
  ) {
    this.#source = source;
    this.#connect = connect;
    this.#timing = timing;
    this.#sink = sink;
  }

  /** Connects, now; drops the connection or pause that there is. Begins again after an end. */
  start(): void {
    if (this.#isClosed) return;
    this.#drop();
    this.#isRunning = true;
    this.#isEnded = false;
    const abort = new AbortController();
    this.#abort = abort;
    this.#lastByteMs = this.#timing.nowMs();
    this.#sink.onStatus({ kind: "connecting" });
    // A sink may have closed or restarted us.
    if (this.#abort === abort) void this.#run(abort);
  }

  /** Drops the connection until {@link resume}. */
  pause(): void {
    if (this.#isEnded) return;
    this.#drop();
    this.#isRunning = false;
  }

  /** Starts, unless it runs, was closed, or has come to its end. */
  resume(): void {
    if (!this.#isRunning && !this.#isEnded) this.start();
  }

  /** Ends for good. */
  close(): void {
    this.#isClosed = true;
    this.#isRunning = false;
    this.#drop();
  }

  /** Tries now what waits, and drops a connection of which nothing was heard for too long. */
  wake(): void {
    if (!this.#isRunning) return;
    const isStale = this.#timing.nowMs() - this.#lastByteMs > STALE_MS;
    if (this.#abort === null || isStale) this.start();
  }

  /** Does what effects say that did not come from the connection. */
  perform(effects: Effect<Item>[]): void {
    if (this.#isClosed || !this.#isRunning) return;
    this.#apply(effects);
  }

  async #run(abort: AbortController): Promise<void> {
    this.#watchSilence(abort);
    try {
      const answer = await this.#connect(this.#source.connect(), abort.signal);
      if (this.#abort !== abort) return;
      this.#lastByteMs = this.#timing.nowMs();
      this.#apply(this.#source.receiveResponse(answer, this.#lastByteMs));
      if (this.#abort !== abort) return;
      this.#sink.onStatus({ kind: "live" });
      if (this.#abort !== abort) return;
      for await (const chunk of answer.chunks) {
        if (this.#abort !== abort) return;
        this.#lastByteMs = this.#timing.nowMs();
        this.#apply(this.#source.receiveData(chunk));
        if (this.#abort !== abort) return;
      }
      if (this.#abort === abort) this.#apply(this.#source.receiveEof());
    } catch (error) {
      if (this.#abort !== abort) return;
      const failure = error instanceof GatewayError ? error : unreachable();
      this.#apply(this.#source.receiveFailure(failure));
    }
  }

  #watchSilence(abort: AbortController): void {
    const check = (): void => {
      this.#stopTimer = null;
      if (this.#abort !== abort) return;
      const leftMs = this.#lastByteMs + SILENCE_MS - this.#timing.nowMs();
      if (leftMs > 0) {
        this.#stopTimer = this.#timing.schedule(leftMs, check);
        return;
      }
      const detail = `nothing came from the gateway for ${SILENCE_MS / 1000} s`;
      const error = new GatewayError("connection_silent", detail, { retryable: true });
      this.#apply(this.#source.receiveFailure(error));
    };
    this.#stopTimer = this.#timing.schedule(SILENCE_MS, check);
  }

  #apply(effects: Effect<Item>[]): void {
    const items: Item[] = [];
    let last: Effect<Item> | null = null;
    for (const effect of effects) {
      if (effect.kind === "item") items.push(effect.item);
      else last = effect;
    }
    // Dropped before anybody is told: who is told may start anew, or close.
    if (last !== null) this.#drop();
    const dropCount = this.#dropCount;
    if (items.length > 0) this.#sink.onItems(items);
    if (last === null || this.#isClosed || this.#dropCount !== dropCount) return;
    this.#conclude(last);
  }

  #conclude(effect: Effect<Item>): void {
    if (effect.kind === "item") return;
    if (effect.kind === "reconnect") {
      if (effect.delayMs <= 0) {
        this.start();
        return;
      }
      this.#stopTimer = this.#timing.schedule(effect.delayMs, () => {
        this.#stopTimer = null;
        this.start();
      });
      const retryAtMs = this.#timing.nowMs() + effect.delayMs;
      this.#sink.onStatus({ kind: "waiting", error: effect.error, retryAtMs });
      return;
    }
    this.#isRunning = false;
    this.#isEnded = true;
    this.#sink.onStatus(
      effect.kind === "failed" ? { kind: "ended", error: effect.error } : { kind: "ended" },
    );
  }

  #drop(): void {
    this.#dropCount += 1;
    this.#stopTimer?.();
    this.#stopTimer = null;
    const abort = this.#abort;
    this.#abort = null;
    abort?.abort();
  }
}
