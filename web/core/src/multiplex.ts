/**
 * Several conversations on one stream, over as many connections as it takes; bytes in, effects out.
 *
 * Spec: docs/spec/gateway/stream.md, "Several conversations".
 *
 * Each conversation has a cursor of its own, and what is wrong with one leaves the others alone: it is
 * told as lost, and its events are passed over until {@link Multiplex.set} says where it goes on.
 */

import { ProtocolError } from "./errors.ts";
import type { GatewayError } from "./failures.ts";
import { decodeJson, ENVELOPED_DEPTH_MAX } from "./json.ts";
import {
  type Effect,
  Reconnecting,
  type StreamHead,
  type StreamRequest,
  type StreamSource,
} from "./reconnecting.ts";
import type { ServerSentEvent } from "./sse.ts";
import { isObject } from "./values.ts";

/** Conversations on one stream, as many as a gateway takes by default. */
export const STREAM_CONVERSATIONS_MAX = 64;

/** UTF-16 units of the list of conversations in a query, percent-encoded; gateways take 16,384. */
export const LIST_UNITS_MAX = 12_000;

// Digits of a cursor, with its colon and a comma, percent-encoded.
const CURSOR_UNITS = 22;

/** One event of one conversation, undecoded, as it may be handed from worker to page. */
export interface Frame {
  readonly conversationId: string;
  readonly type: string;
  /** 0 for an event without a number. */
  readonly seq: number;
  readonly prevSeq: number;
  /** A snapshot for a reader whose numbers were never of this log. */
  readonly isReset: boolean;
  /** The event as JSON. */
  readonly text: string;
}

/** What a stream of several conversations brings. */
export type ManyItem =
  | { readonly kind: "frame"; readonly frame: Frame }
  /** What came of this conversation does not fit: it is off the stream until it is set again. */
  | { readonly kind: "lost"; readonly conversationId: string; readonly code: string };

/** Returns whether a list of conversations can name this id. */
export function isListable(id: string): boolean {
  return id !== "" && !/[:,]/.test(id) && listUnits(id) <= LIST_UNITS_MAX;
}

/** Returns how much of a list this id takes. */
export function listUnits(id: string): number {
  return encodeURIComponent(id).length + CURSOR_UNITS;
}

/** Reads several conversations. */
export class Multiplex implements StreamSource<ManyItem> {
  readonly #connection: Reconnecting;
  // Null: lost.
  readonly #cursors = new Map<string, number | null>();

  constructor(random: () => number, eventBytesMax?: number) {
    this.#connection = new Reconnecting(random, eventBytesMax);
  }

  /** Whether there is no conversation to read. */
  get isEmpty(): boolean {
    for (const cursor of this.#cursors.values()) if (cursor !== null) return false;
    return true;
  }

  /** The number of the last frame of this conversation; null when it is lost or not on the stream. */
  cursor(conversationId: string): number | null {
    return this.#cursors.get(conversationId) ?? null;
  }

  /** Puts a conversation on the next connection, from behind `cursor` on. */
  set(conversationId: string, cursor: number): void {
    this.#cursors.set(conversationId, cursor);
  }

  /** Takes a conversation off; what still comes of it is passed over. */
  remove(conversationId: string): void {
    this.#cursors.delete(conversationId);
  }

  /**
   * Returns what the next connection asks for: each conversation from behind its cursor on. Call it
   * only while there is one.
   */
  connect(): StreamRequest {
    const items: string[] = [];
    for (const [id, cursor] of this.#cursors) {
      if (cursor !== null) items.push(`${id}:${cursor}`);
    }
    return {
      query: { conversations: items.join(",") },
      headers: { accept: "text/event-stream" },
    };
  }

  /** See {@link StreamSource}. */
  receiveResponse(head: StreamHead, nowMs: number): Effect<ManyItem>[] {
    return this.#connection.receiveResponse(head, nowMs);
  }

  /** See {@link StreamSource}. */
  receiveData(bytes: Uint8Array): Effect<ManyItem>[] {
    return this.#take(this.#connection.receiveData(bytes));
  }

  /** See {@link StreamSource}. */
  receiveEof(): Effect<ManyItem>[] {
    if (!this.#connection.isOpen) return [];
    const effects = this.#take(this.#connection.receiveEof());
    if (this.#connection.isOpen) effects.push(this.#connection.ended());
    return effects;
  }

  /** See {@link StreamSource}. */
  receiveFailure(error: GatewayError): Effect<ManyItem>[] {
    return [this.#connection.failure(error)];
  }

  /** The person or the network says that now is a good time: pauses begin anew. */
  encourage(): void {
    this.#connection.encourage();
  }

  #take(events: readonly ServerSentEvent[]): Effect<ManyItem>[] {
    const effects: Effect<ManyItem>[] = [];
    for (const event of events) {
      const frame = readFrame(event);
      if (typeof frame === "string") {
        const lost = this.#unreadable(event.lastEventId);
        if (lost.length === 0) {
          effects.push(this.#connection.resync(frame));
          break;
        }
        for (const id of lost) effects.push(lostItem(id, frame));
      } else {
        const item = this.#judged(frame);
        if (item !== null) effects.push({ kind: "item", item });
      }
    }
    return effects;
  }

  #judged(frame: Frame): ManyItem | null {
    const { conversationId, seq, type } = frame;
    const cursor = this.#cursors.get(conversationId);
    if (cursor === undefined || cursor === null) return null;
    if (type === "conversation.snapshot") {
      this.#cursors.set(conversationId, seq);
      return { kind: "frame", frame };
    }
    if (seq === 0) return { kind: "frame", frame };
    if (seq <= cursor) return null;
    if (frame.prevSeq > cursor) {
      this.#cursors.set(conversationId, null);
      return { kind: "lost", conversationId, code: "sequence_gap" };
    }
    this.#cursors.set(conversationId, seq);
    this.#connection.progress();
    return { kind: "frame", frame };
  }

  /** Marks as lost, and returns, whose event could not be read: `id` says whose cursor it moves. */
  #unreadable(lastEventId: string): string[] {
    const lost: string[] = [];
    for (const item of lastEventId.split(",")) {
      const colon = item.lastIndexOf(":");
      const id = item.slice(0, colon);
      const cursor = this.#cursors.get(id);
      if (cursor === undefined || cursor === null) continue;
      if (Number(item.slice(colon + 1)) > cursor) lost.push(id);
    }
    for (const id of lost) this.#cursors.set(id, null);
    return lost;
  }
}

function lostItem(conversationId: string, code: string): Effect<ManyItem> {
  return { kind: "item", item: { kind: "lost", conversationId, code } };
}

/** Returns the frame, or the code of why it is none. */
function readFrame(event: ServerSentEvent): Frame | string {
  if (event.data === null) return "event_too_large";
  try {
    const value = decodeJson(event.data, ENVELOPED_DEPTH_MAX);
    if (!isObject(value)) return "invalid_event";
    const { type, conversation_id: conversationId, seq = 0, prev_seq: prevSeq = 0 } = value;
    const isFrame = typeof type === "string" && typeof conversationId === "string";
    if (!isFrame || typeof seq !== "number" || typeof prevSeq !== "number") return "invalid_event";
    const isReset = value.reset === true;
    return { conversationId, type, seq, prevSeq, isReset, text: event.data };
  } catch (error) {
    if (error instanceof ProtocolError) return error.code;
    throw error;
  }
}
