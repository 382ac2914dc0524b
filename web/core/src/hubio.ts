/** How the hub reaches a gateway. */

import type { StreamEvent } from "./events.ts";
import { GatewayError } from "./failures.ts";
import type { Gateway } from "./gateway.ts";
import { encodeJson } from "./json.ts";
import type { Frame } from "./multiplex.ts";
import type { EventPage } from "./requests.ts";
import type { Connect } from "./stream.ts";
import type { Timing } from "./timing.ts";
import type { Json } from "./values.ts";

/** How the hub reaches the gateway, and the time. */
export interface HubIo {
  readonly timing: Timing;
  /** Opens a stream of several conversations. */
  readonly connect: Connect;
  /** Returns the events behind a number, or with null a snapshot. */
  page(conversationId: string, after: number | null, signal: AbortSignal): Promise<HubPage>;
  /** Returns why this conversation cannot be read; null when it can. */
  problem(conversationId: string): Promise<GatewayError | null>;
}

/** One page of events, as frames. */
export interface HubPage {
  readonly frames: readonly Frame[];
  readonly nextCursor: number;
  readonly atEnd: boolean;
}

/** Returns how a hub reaches this gateway. */
export function gatewayHubIo(gateway: Gateway): HubIo {
  return {
    timing: gateway.timing,
    connect: (request, signal) => gateway.openEvents(null, request, signal),
    page: async (id, after, signal) => {
      const options = after === null ? { snapshot: true } : { after };
      return hubPage(id, await gateway.eventsPage(id, { ...options, signal }));
    },
    problem: async (id) => {
      try {
        await gateway.conversation(id);
        return null;
      } catch (error) {
        if (error instanceof GatewayError && !error.retryable) return error;
        throw error;
      }
    },
  };
}

/** Returns an event as it came. */
export function eventJson(event: StreamEvent): Json {
  return event.type === "unknown" ? event.members : (event as unknown as Json);
}

function hubPage(conversationId: string, page: EventPage): HubPage {
  const frame = (event: StreamEvent): Frame => ({
    conversationId,
    type: event.type,
    seq: event.seq ?? 0,
    prevSeq: event.prev_seq ?? 0,
    isReset: event.type === "conversation.snapshot" && event.reset === true,
    text: encodeJson(eventJson(event)),
  });
  return { frames: page.items.map(frame), nextCursor: page.next_cursor, atEnd: page.at_end };
}
