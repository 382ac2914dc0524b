/**
 * How a conversation's events reach whoever keeps its state: the interface, and the way that needs one
 * connection for each conversation.
 */

import type { StreamEvent } from "./events.ts";
import type { Gateway } from "./gateway.ts";
import { type Connect, type LinkStatus, StreamDriver } from "./stream.ts";
import { Subscription } from "./subscription.ts";
import { connectByTicket } from "./ticket.ts";
import { canStreamFetch, documentVisibility, type Visibility } from "./transports.ts";

export type { LinkStatus } from "./stream.ts";

/** Who hears of a conversation. Neither may throw; both may close, resync or wake. */
export interface LinkHandler {
  /** What one read brought, in order; never nothing. Each numbered event once. */
  onEvents(events: StreamEvent[]): void;
  onStatus(status: LinkStatus): void;
}

/** One conversation that is being read. */
export interface LinkHandle {
  /** The number of the last event that was handed out; null before the first snapshot. */
  cursor(): number | null;
  /** What was handed out does not fit: go on with a snapshot, unless that was tried too often. */
  resync(code: string): void;
  /** The page is shown again or the network is back: try now. */
  wake(): void;
  close(): void;
}

/** A way to read conversations. */
export interface StreamLink {
  /**
   * Reads a conversation from behind `cursor` on, or with null from a snapshot, until it is closed or
   * ends (see `LinkStatus`). Nothing is handed out before this returns.
   */
  open(conversationId: string, cursor: number | null, handler: LinkHandler): LinkHandle;
}

/** How a {@link DirectLink} behaves. */
export interface DirectLinkOptions {
  /** Close streams while nobody sees the page; they go on by their cursors when it is shown again. */
  readonly closesWhileHidden?: boolean;
  readonly visibility?: Visibility;
}

/** One stream for each conversation, fetched. */
export class DirectLink implements StreamLink {
  readonly #gateway: Gateway;
  readonly #visibility: Visibility | null;

  constructor(gateway: Gateway, options: DirectLinkOptions = {}) {
    this.#gateway = gateway;
    const visibility = options.visibility ?? documentVisibility();
    this.#visibility = options.closesWhileHidden ? visibility : null;
  }

  /** Returns how connections to a conversation are made. */
  protected connectTo(gateway: Gateway, conversationId: string): Connect {
    return (request, signal) => gateway.openEvents(conversationId, request, signal);
  }

  /** See {@link StreamLink}. */
  open(conversationId: string, cursor: number | null, handler: LinkHandler): LinkHandle {
    const gateway = this.#gateway;
    const { timing, view } = gateway;
    const subscription = new Subscription({ conversationId, cursor, view, random: timing.random });
    const driver = new StreamDriver(subscription, this.connectTo(gateway, conversationId), timing, {
      onItems: (events) => handler.onEvents(events),
      onStatus: (s) => handler.onStatus(s),
    });
    const visibility = this.#visibility;
    let isEnded = false;
    const follow = (): void => {
      if (visibility?.isHidden()) driver.pause();
      else driver.resume();
    };
    const unfollow = visibility?.onChange(follow);
    const cancelStart = timing.schedule(0, follow);
    const close = (): void => {
      isEnded = true;
      cancelStart();
      unfollow?.();
      driver.close();
    };
    return {
      cursor: () => subscription.cursor,
      resync: (code) => driver.perform(subscription.refuse(code)),
      wake: () => {
        if (isEnded) return;
        subscription.encourage();
        driver.wake();
      },
      close,
    };
  }
}

/** One stream for each conversation, by `EventSource`: for browsers whose `fetch` does not stream. */
export class TicketLink extends DirectLink {
  protected override connectTo(gateway: Gateway, conversationId: string): Connect {
    return connectByTicket(gateway, conversationId);
  }
}

/** Returns the way that this browser has to a stream for each conversation. */
export function createOwnLink(gateway: Gateway, options: DirectLinkOptions = {}): StreamLink {
  return canStreamFetch() ? new DirectLink(gateway, options) : new TicketLink(gateway, options);
}
