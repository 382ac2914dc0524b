/**
 * When a stream is connected anew, and when it is given up: what all our streams have in common.
 *
 * Spec: docs/spec/gateway/stream.md, "Reading well". No I/O and no clock in here.
 *
 * | | |
 * |---|---|
 * | cut, clean end, silence, 408, 429, 5xx | a new connection from the cursor, after a pause |
 * | an event that does not fit, or is no JSON | a new connection with a snapshot, so often at most |
 * | 204 | the end |
 * | any other answer | the end, with an error |
 */

import {
  connectionLost,
  GatewayError,
  isPassing,
  PROTOCOL_HEADER,
  protocolMismatch,
  refusal,
  streamInconsistent,
} from "./failures.ts";
import { type ServerSentEvent, SseDecoder } from "./sse.ts";
import { pauseMs } from "./timing.ts";

/** Silence after which a gateway writes a comment (docs/spec/gateway/stream.md), in milliseconds. */
export const HEARTBEAT_MS = 15_000;

/** A stream without a byte for so long is dead: three heartbeats are missing. */
export const SILENCE_MS = 3 * HEARTBEAT_MS;

/** Longest first pause before a reconnection where the stream asked for none by `retry:`. */
export const RETRY_MS = 1_000;

/** A stream that asks for shorter pauses than this would be asked in a busy loop. */
export const RETRY_MS_MIN = 100;

/** Longest first pause that a stream may ask for by `retry:`. */
export const RETRY_MS_MAX = 60_000;

/** Longest pause before a reconnection, unless the gateway asks for a longer one. */
export const PAUSE_MS_MAX = 30_000;

/** Snapshots asked for in a row, without an event in between that fits. */
export const RESYNCS_MAX = 3;

/** Bytes of one event: a snapshot holds a running turn whole. */
export const STREAM_EVENT_BYTES_MAX = 128 * 1024 * 1024;

const MEDIA_TYPE = "text/event-stream";

/** What the next connection asks for. */
export interface StreamRequest {
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The head of an answer, and its beginning where it is not a stream. */
export interface StreamHead {
  readonly status: number;
  /** Returns a header by its name in lower case. */
  header(name: string): string | null;
  /** Unless the status is 200, the body or its beginning. */
  readonly body: string;
}

/** What is to be done; the driver does it in order. */
export type Effect<Item> =
  /** Hand an item to the reader. */
  | { readonly kind: "item"; readonly item: Item }
  /** Drop the connection, and connect again after `delayMs` because of `error`. */
  | { readonly kind: "reconnect"; readonly delayMs: number; readonly error: GatewayError }
  /** Nothing is to come. */
  | { readonly kind: "finished" }
  /** There is no way on. */
  | { readonly kind: "failed"; readonly error: GatewayError };

/** Something that is read over as many connections as it takes; bytes in, effects out. */
export interface StreamSource<Item> {
  /** What the next connection asks for. */
  connect(): StreamRequest;
  /** Takes the head of an answer; no effects mean that its stream is to be read. */
  receiveResponse(head: StreamHead, nowMs: number): Effect<Item>[];
  /** Takes bytes. After a `reconnect` or an end, more bytes of that connection bring nothing. */
  receiveData(bytes: Uint8Array): Effect<Item>[];
  /** Takes the clean end of the bytes, which never is the end of an answer. */
  receiveEof(): Effect<Item>[];
  /** Takes a connection that failed, broke or fell silent. */
  receiveFailure(error: GatewayError): Effect<Item>[];
}

/** Returns the pause after so many failures in a row, where no stream asked for another one. */
export function retryPauseMs(failureCount: number, random: () => number): number {
  return pauseMs(failureCount, RETRY_MS, PAUSE_MS_MAX, random);
}

/** The pauses and judgements of one {@link StreamSource}; it has one and asks it. */
export class Reconnecting {
  readonly #random: () => number;
  readonly #eventBytesMax: number;
  #decoder: SseDecoder | null = null;
  #wasOpen = false;
  #retryMs = RETRY_MS;
  #failureCount = 0;
  #resyncCount = 0;
  #hasProgress = false;

  constructor(random: () => number, eventBytesMax: number = STREAM_EVENT_BYTES_MAX) {
    this.#random = random;
    this.#eventBytesMax = eventBytesMax;
  }

  /** Whether a connection is being read. */
  get isOpen(): boolean {
    return this.#decoder !== null;
  }

  /** Whether any connection ever was. */
  get wasOpen(): boolean {
    return this.#wasOpen;
  }

  /** See {@link StreamSource.receiveResponse}. */
  receiveResponse(head: StreamHead, nowMs: number): Effect<never>[] {
    const mismatch = protocolMismatch(head.header(PROTOCOL_HEADER));
    if (mismatch !== null) return [{ kind: "failed", error: mismatch }];
    if (head.status === 204) return [{ kind: "finished" }];
    if (head.status !== 200) {
      const refused = refusal(head.status, (name) => head.header(name), head.body, nowMs);
      if (isPassing(head.status)) return [this.retry(refused)];
      return [{ kind: "failed", error: refused }];
    }
    const type = (head.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
    if (type !== MEDIA_TYPE) {
      const detail = "no event stream came; is a proxy or a login page in between?";
      const error = new GatewayError("unexpected_content_type", detail, { status: 200 });
      return [{ kind: "failed", error }];
    }
    this.#wasOpen = true;
    this.#decoder = new SseDecoder({ eventBytesMax: this.#eventBytesMax });
    return [];
  }

  /** Returns the events that `bytes` completed; none when the connection was given up. */
  receiveData(bytes: Uint8Array): ServerSentEvent[] {
    const decoder = this.#decoder;
    if (decoder === null) return [];
    // What was received before was not refused, so it fitted.
    if (this.#hasProgress) this.#resyncCount = 0;
    this.#hasProgress = false;
    const commentCount = decoder.commentCount;
    const events = decoder.receiveData(bytes);
    if (decoder.retryMs !== null) {
      this.#retryMs = Math.min(Math.max(decoder.retryMs, RETRY_MS_MIN), RETRY_MS_MAX);
    }
    // A heartbeat: the way to the gateway is good, even if there is nothing to tell.
    if (decoder.commentCount > commentCount) this.#failureCount = 0;
    return events;
  }

  /** Returns the events that the end of the bytes completed: at most one that is too large. */
  receiveEof(): ServerSentEvent[] {
    return this.#decoder?.finish() ?? [];
  }

  /** Call for each event that was new: then the next failure is the first again. */
  progress(): void {
    this.#failureCount = 0;
    this.#hasProgress = true;
  }

  /** Gives the connection up and returns when to connect again. */
  retry(error: GatewayError, atOnce = false): Effect<never> {
    this.#decoder = null;
    this.#failureCount += 1;
    // Whoever was asked to wait does not come back in step with all others.
    const askedMs = (error.retryAfterS ?? 0) * 1000;
    const pause = atOnce ? 0 : this.#pauseMs(this.#failureCount);
    return { kind: "reconnect", delayMs: pause + askedMs, error };
  }

  /** Gives the connection up, because of what it brought, and returns when to ask for a snapshot. */
  resync(code: string): Effect<never> {
    this.#decoder = null;
    this.#hasProgress = false;
    this.#resyncCount += 1;
    const error = streamInconsistent(code, { retryable: true });
    if (this.#resyncCount > RESYNCS_MAX) return { kind: "failed", error };
    // The first is at once: most likely it heals all.
    const delayMs = this.#resyncCount === 1 ? 0 : this.#pauseMs(this.#resyncCount - 1);
    return { kind: "reconnect", delayMs, error };
  }

  /** Returns what a connection that failed, broke or fell silent asks for. */
  failure(error: GatewayError): Effect<never> {
    return error.retryable ? this.retry(error) : { kind: "failed", error };
  }

  /** Returns what the clean end of a stream asks for. */
  ended(atOnce = false): Effect<never> {
    return this.retry(connectionLost(), atOnce && this.#failureCount === 0);
  }

  /** The person or the network says that now is a good time: pauses begin anew. */
  encourage(): void {
    this.#failureCount = 0;
  }

  #pauseMs(failureCount: number): number {
    const longestMs = Math.max(PAUSE_MS_MAX, this.#retryMs);
    return pauseMs(failureCount, this.#retryMs, longestMs, this.#random);
  }
}
