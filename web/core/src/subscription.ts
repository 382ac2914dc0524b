/**
 * One conversation read to its end over as many connections as it takes; bytes in, effects out.
 *
 * Spec: docs/spec/gateway/stream.md; docs/spec/content/reducer.md, "What the numbers say".
 *
 * A {@link Subscription} opens no connection and reads no clock. Its driver does what the effects
 * say. It decides by numbers alone: an event that was here before is dropped, a gap asks for a
 * snapshot. Whether an event fits the state is known to whoever keeps the state, and told by
 * {@link Subscription.refuse}.
 */

import { decodeEvent } from "./codec.ts";
import { ProtocolError } from "./errors.ts";
import type { StreamEvent } from "./events.ts";
import { conversationDeleted, GatewayError } from "./failures.ts";
import { decodeJson, ENVELOPED_DEPTH_MAX } from "./json.ts";
import {
  type Effect,
  Reconnecting,
  type StreamHead,
  type StreamRequest,
  type StreamSource,
} from "./reconnecting.ts";
import type { ServerSentEvent } from "./sse.ts";

/** What is read, and how. */
export interface SubscriptionOptions {
  readonly conversationId: string;
  /** Everything after this number; null begins with a snapshot. */
  readonly cursor: number | null;
  /** Ask for less than the caller may see. */
  readonly view?: "public" | undefined;
  /** Finish when nothing runs and all was received. */
  readonly untilIdle?: boolean;
  /** Returns a number in [0, 1), for pauses. */
  readonly random: () => number;
  /** Bytes of one event; a larger one is lost, and healed by a snapshot. */
  readonly eventBytesMax?: number;
}

/** What the numbers say about an event, with the cursor where it is. */
export type Verdict = "unnumbered" | "seen" | "next" | "gap" | "replaces";

/** Returns what an event of these numbers is to a reader at `cursor`; null has nothing yet. */
export function judge(event: StreamEvent, cursor: number | null): Verdict {
  if (event.type === "conversation.snapshot") return "replaces";
  const seq = event.seq ?? 0;
  if (seq === 0) return "unnumbered";
  if (cursor === null) return "gap";
  if (seq <= cursor) return "seen";
  return (event.prev_seq ?? 0) > cursor ? "gap" : "next";
}

/** Reads one conversation. */
export class Subscription implements StreamSource<StreamEvent> {
  readonly #options: SubscriptionOptions;
  readonly #connection: Reconnecting;
  #cursor: number | null;
  #wantsSnapshot: boolean;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#connection = new Reconnecting(options.random, options.eventBytesMax);
    this.#cursor = options.cursor;
    this.#wantsSnapshot = options.cursor === null;
  }

  /** The number of the last event that was handed out; null before the first snapshot. */
  get cursor(): number | null {
    return this.#cursor;
  }

  /** Returns what the next connection asks for: everything after the cursor, or a snapshot. */
  connect(): StreamRequest {
    const query: Record<string, string> = {};
    if (this.#options.untilIdle) query.until = "idle";
    if (this.#options.view !== undefined) query.view = this.#options.view;
    if (this.#wantsSnapshot) query.snapshot = "1";
    const headers: Record<string, string> = { accept: "text/event-stream" };
    // With an id the gateway knows a reader that comes back, and tells it when all is over.
    if (this.#connection.wasOpen || this.#cursor !== null) {
      headers["last-event-id"] = String(this.#cursor ?? 0);
    }
    return { query, headers };
  }

  /** See {@link StreamSource}. */
  receiveResponse(head: StreamHead, nowMs: number): Effect<StreamEvent>[] {
    return this.#connection.receiveResponse(head, nowMs);
  }

  /** See {@link StreamSource}. */
  receiveData(bytes: Uint8Array): Effect<StreamEvent>[] {
    return this.#take(this.#connection.receiveData(bytes));
  }

  /** See {@link StreamSource}. */
  receiveEof(): Effect<StreamEvent>[] {
    if (!this.#connection.isOpen) return [];
    const effects = this.#take(this.#connection.receiveEof());
    // The end of a stream that ends when all is told is confirmed by asking once more.
    if (this.#connection.isOpen) effects.push(this.#connection.ended(this.#options.untilIdle));
    return effects;
  }

  /** See {@link StreamSource}. */
  receiveFailure(error: GatewayError): Effect<StreamEvent>[] {
    return [this.#connection.failure(error)];
  }

  /**
   * Call when an event that was handed out does not fit the state: a new connection begins with a
   * snapshot; what does not fit several times in a row is the end.
   */
  refuse(code: string): Effect<StreamEvent>[] {
    this.#wantsSnapshot = true;
    return [this.#connection.resync(code)];
  }

  /** The person or the network says that now is a good time: pauses begin anew. */
  encourage(): void {
    this.#connection.encourage();
  }

  #take(items: readonly ServerSentEvent[]): Effect<StreamEvent>[] {
    const effects: Effect<StreamEvent>[] = [];
    for (const item of items) {
      const last = this.#takeItem(item, effects);
      if (last !== null) {
        effects.push(last);
        break;
      }
    }
    return effects;
  }

  #takeItem(item: ServerSentEvent, effects: Effect<StreamEvent>[]): Effect<StreamEvent> | null {
    if (item.data === null) return this.#tooLarge(item);
    let event: StreamEvent;
    try {
      event = decodeEvent(decodeJson(item.data, ENVELOPED_DEPTH_MAX));
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      return this.#resync(error.code);
    }
    // What a cache in between mixes up must not be folded into this conversation.
    const conversationId = event.conversation_id ?? "";
    if (conversationId !== "" && conversationId !== this.#options.conversationId) {
      return this.#resync("conversation_mismatch");
    }
    const verdict = judge(event, this.#cursor);
    if (verdict === "gap") return this.#resync("sequence_gap");
    if (verdict === "seen") return null;
    effects.push({ kind: "item", item: event });
    if (verdict === "unnumbered") {
      const type: string = event.type;
      if (type !== "conversation.deleted") return null;
      return { kind: "failed", error: conversationDeleted() };
    }
    this.#cursor = event.seq ?? 0;
    if (verdict === "replaces") this.#wantsSnapshot = false;
    else this.#connection.progress();
    return null;
  }

  #tooLarge(item: ServerSentEvent): Effect<StreamEvent> {
    if (item.type !== "conversation.snapshot") return this.#resync("event_too_large");
    const detail = "the conversation's snapshot is larger than this client takes";
    return { kind: "failed", error: new GatewayError("event_too_large", detail) };
  }

  #resync(code: string): Effect<StreamEvent> {
    this.#wantsSnapshot = true;
    return this.#connection.resync(code);
  }
}
