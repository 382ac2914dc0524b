/**
 * Event streams for browsers whose `fetch` gives no body out while it comes: an `EventSource`, which
 * sends no header and so needs a ticket in its address.
 *
 * Spec: docs/spec/gateway/auth.md, "Tickets". What it brings is written as the event stream that it
 * was, so that everything behind it is the same as with `fetch`.
 */

import { connectionLost, unreachable } from "./failures.ts";
import type { Gateway } from "./gateway.ts";
import { HEARTBEAT_MS } from "./reconnecting.ts";
import type { Connect, StreamAnswer } from "./stream.ts";
import type { Timing } from "./timing.ts";

/**
 * An `EventSource` hides heartbeats, so silence proves nothing; after so much of it the stream is
 * opened anew, in case that it died, in milliseconds.
 */
export const QUIET_MS = 120_000;

/**
 * Types that an `EventSource` is asked for; it has no way to ask for all. One that is not listed is
 * missed as a gap in the numbers, which a snapshot heals.
 */
export const TICKET_EVENT_TYPES: readonly string[] = [
  "turn.started",
  "content.block.started",
  "content.block.delta",
  "content.block.updated",
  "content.block.completed",
  "turn.suspended",
  "turn.resumed",
  "turn.completed",
  "turn.failed",
  "turn.cancelled",
  "message.created",
  "conversation.snapshot",
  "conversation.deleted",
  "subscription.ready",
  "turn.queued",
  "turn.dequeued",
  "message",
];

/** What is used of an `EventSource`. */
export interface EventSourceLike {
  onopen: ((event: Event) => unknown) | null;
  onerror: ((event: Event) => unknown) | null;
  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void;
  close(): void;
}

/** Returns a way to open a conversation's stream with a ticket; each connection takes a new one. */
export function connectByTicket(
  gateway: Gateway,
  conversationId: string,
  openSource: (url: string) => EventSourceLike = (url) => new EventSource(url),
): Connect {
  return async ({ query, headers }, signal): Promise<StreamAnswer> => {
    // Says what a stream alone would hide: whether we may, and whether there is such a conversation.
    const { ticket } = await gateway.ticket(conversationId);
    if (signal.aborted) throw signal.reason;
    const after = headers["last-event-id"];
    const url = gateway.eventsUrl(conversationId, { ...query, after, ticket });
    const messages = new Messages(openSource(url), gateway.timing);
    signal.addEventListener("abort", () => messages.fail());
    await messages.opened;
    return { status: 200, header: streamHeader, body: "", chunks: messages.chunks() };
  };
}

function streamHeader(name: string): string | null {
  return name === "content-type" ? "text/event-stream" : null;
}

/** The messages of one `EventSource`, as the bytes that they came from. */
class Messages {
  readonly opened: Promise<void>;
  readonly #source: EventSourceLike;
  readonly #timing: Timing;
  readonly #encoder = new TextEncoder();
  #waiting: Uint8Array[] = [];
  #isOver = false;
  #lastMs: number;
  #wake: (() => void) | null = null;
  #cancelBeat: (() => void) | null = null;
  #refuse: () => void = () => undefined;

  constructor(source: EventSourceLike, timing: Timing) {
    this.#source = source;
    this.#timing = timing;
    this.#lastMs = timing.nowMs();
    for (const type of TICKET_EVENT_TYPES) {
      source.addEventListener(type, ({ data, lastEventId }) => this.#put(type, lastEventId, data));
    }
    this.opened = new Promise((resolve, reject) => {
      source.onopen = () => resolve();
      // It would try again by itself, with a ticket that is over by then.
      source.onerror = () => this.fail();
      this.#refuse = () => reject(unreachable());
    });
    this.#beat();
  }

  /** Ends: what was received is given out, then comes an error. */
  fail(): void {
    this.#isOver = true;
    this.#source.close();
    this.#cancelBeat?.();
    this.#refuse();
    this.#wake?.();
  }

  /** @throws GatewayError `connection_lost` at the end, however it came. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        yield* this.#waiting.splice(0);
        if (this.#waiting.length > 0) continue;
        if (this.#isOver) throw connectionLost();
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.fail();
    }
  }

  #put(type: string, id: string, data: string): void {
    this.#lastMs = this.#timing.nowMs();
    const lines = data.split("\n").map((line) => `data: ${line}\n`);
    this.#push(`id: ${id}\nevent: ${type}\n${lines.join("")}\n`);
  }

  #push(text: string): void {
    this.#waiting.push(this.#encoder.encode(text));
    this.#wake?.();
  }

  // In the place of the heartbeats that are hidden from us.
  #beat(): void {
    this.#cancelBeat = this.#timing.schedule(HEARTBEAT_MS, () => {
      if (this.#timing.nowMs() - this.#lastMs >= QUIET_MS) {
        this.fail();
        return;
      }
      this.#push(":\n\n");
      this.#beat();
    });
  }
}
