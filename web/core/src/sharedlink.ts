/**
 * A page's side of the hub: reads conversations through one connection that all tabs of a browser
 * share, and by itself where there is no hub, or none that answers.
 */

import { decodeEvent } from "./codec.ts";
import { ProtocolError } from "./errors.ts";
import type { StreamEvent } from "./events.ts";
import { GatewayError } from "./failures.ts";
import { type FromHub, readStatus, type ToHub } from "./hubmessages.ts";
import { decodeJson, ENVELOPED_DEPTH_MAX } from "./json.ts";
import type { LinkHandle, LinkHandler, StreamLink } from "./link.ts";
import { PAUSE_MS_MAX, RESYNCS_MAX, RETRY_MS } from "./reconnecting.ts";
import type { LinkStatus } from "./stream.ts";
import { judge } from "./subscription.ts";
import { pauseMs, type Timing } from "./timing.ts";

/** A hub that has not answered the first word after so long, in milliseconds, is none. */
export const WELCOME_MS = 5_000;

/** How often a page says that it is still there, and asks whether the hub is. */
export const PING_MS = 20_000;

/** Questions in a row without an answer after which a hub is made anew. */
export const MISSED_PONGS_MAX = 2;

/** The way to a hub. */
export interface SharedPort {
  post(message: ToHub): void;
  /** Calls `onMessage` for each message, and `onFailure` when there is no hub behind it. */
  listen(onMessage: (message: FromHub) => void, onFailure: () => void): void;
  close(): void;
}

/** What a {@link SharedLink} is made of. */
export interface SharedLinkOptions {
  /** Makes a way to the hub; null where there can be none. */
  readonly connect: () => SharedPort | null;
  /** How conversations are read without a hub. */
  readonly fallback: StreamLink;
  readonly timing: Timing;
}

/** Reads conversations through the hub. */
export class SharedLink implements StreamLink {
  readonly #options: SharedLinkOptions;
  readonly #readers = new Map<number, SharedReader>();
  #nextKey = 1;
  #port: SharedPort | null = null;
  #isWelcome = false;
  #hasFallen = false;
  #missedPongs = 0;
  #cancelTimer: (() => void) | null = null;

  constructor(options: SharedLinkOptions) {
    this.#options = options;
  }

  /** Whether each conversation is read by itself, because there is no hub. */
  get hasFallenBack(): boolean {
    return this.#hasFallen;
  }

  /** See {@link StreamLink}. */
  open(conversationId: string, cursor: number | null, handler: LinkHandler): LinkHandle {
    const key = this.#nextKey;
    this.#nextKey += 1;
    const reader = new SharedReader(conversationId, cursor, handler, {
      timing: this.#options.timing,
      fallback: this.#options.fallback,
      post: (message) => this.#post(message),
      wake: () => this.#wake(),
      key,
      closed: () => this.#readers.delete(key),
    });
    this.#readers.set(key, reader);
    if (this.#hasFallen) reader.fallBack();
    else if (this.#port === null) this.#connect();
    else if (this.#isWelcome) reader.open();
    return reader;
  }

  /** The page goes away, perhaps for good: nothing is read for it until {@link resume}. */
  suspend(): void {
    this.#stop();
  }

  /** The page is back. */
  resume(): void {
    if (this.#port === null && !this.#hasFallen && this.#readers.size > 0) this.#connect();
  }

  #post(message: ToHub): void {
    if (this.#isWelcome) this.#port?.post(message);
  }

  #wake(): void {
    this.#post({ op: "wake" });
    this.#post({ op: "ping" });
  }

  #stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#port?.post({ op: "leave" });
    this.#port?.close();
    this.#port = null;
    this.#isWelcome = false;
  }

  #connect(): void {
    this.#stop();
    const port = this.#options.connect();
    if (port === null) {
      this.#fall();
      return;
    }
    this.#port = port;
    const isOurs = (): boolean => this.#port === port;
    port.listen(
      (message) => {
        if (isOurs()) this.#receive(message);
      },
      () => {
        if (isOurs()) this.#fall();
      },
    );
    port.post({ op: "hello" });
    this.#cancelTimer = this.#options.timing.schedule(WELCOME_MS, () => this.#fall());
  }

  #fall(): void {
    this.#stop();
    this.#hasFallen = true;
    for (const reader of [...this.#readers.values()]) reader.fallBack();
  }

  #receive(message: FromHub): void {
    this.#missedPongs = 0;
    switch (message.op) {
      case "welcome":
        this.#isWelcome = true;
        this.#armPing();
        for (const reader of [...this.#readers.values()]) reader.open();
        return;
      case "gone":
        this.#isWelcome = false;
        this.#port?.post({ op: "hello" });
        return;
      case "pong":
        return;
      case "events":
        this.#readers.get(message.key)?.takeTexts(message.texts);
        return;
      case "status":
        this.#readers.get(message.key)?.takeStatus(readStatus(message.status));
        return;
      case "full":
        this.#readers.get(message.key)?.fallBack();
        return;
    }
  }

  #armPing(): void {
    this.#cancelTimer?.();
    this.#missedPongs = 0;
    const ping = (): void => {
      this.#cancelTimer = this.#options.timing.schedule(PING_MS, ping);
      this.#missedPongs += 1;
      if (this.#missedPongs > MISSED_PONGS_MAX) this.#connect();
      else this.#post({ op: "ping" });
    };
    this.#cancelTimer = this.#options.timing.schedule(PING_MS, ping);
  }
}

interface ReaderContext {
  readonly timing: Timing;
  readonly fallback: StreamLink;
  readonly key: number;
  post(message: ToHub): void;
  wake(): void;
  closed(): void;
}

/** One conversation that this page reads. */
class SharedReader implements LinkHandle {
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
      const detail = `the stream does not fit what came before (${code})`;
      this.#end({ kind: "ended", error: new GatewayError("stream_inconsistent", detail) });
      return;
    }
    const { timing, key } = this.#context;
    const failureCount = this.#resyncCount - 1;
    const delayMs =
      failureCount === 0 ? 0 : pauseMs(failureCount, RETRY_MS, PAUSE_MS_MAX, timing.random);
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
