/** One stream of the hub, with the conversations on it. */

import type { GatewayError } from "./failures.ts";
import type { Channel } from "./hubchannels.ts";
import type { HubIo } from "./hubio.ts";
import {
  type Frame,
  LIST_UNITS_MAX,
  listUnits,
  type ManyItem,
  Multiplex,
  STREAM_CONVERSATIONS_MAX,
} from "./multiplex.ts";
import { retryPauseMs } from "./reconnecting.ts";
import { type LinkStatus, StreamDriver } from "./stream.ts";

/** Who hears of a stream. */
export interface GroupHandler {
  onFrames(frames: readonly Frame[]): void;
  onLost(conversationId: string, code: string): void;
  onStatus(status: LinkStatus): void;
}

/** Reads up to {@link STREAM_CONVERSATIONS_MAX} conversations on one connection at a time. */
export class HubGroup {
  /** All that have a place here, whether or not they are read yet. */
  readonly channels = new Set<Channel>();
  readonly #io: HubIo;
  readonly #handler: GroupHandler;
  readonly #multiplex: Multiplex;
  readonly #driver: StreamDriver<ManyItem>;
  #status: LinkStatus = { kind: "connecting" };
  #units = 0;
  #failureCount = 0;
  #cancelRestart: (() => void) | null = null;

  constructor(io: HubIo, handler: GroupHandler) {
    this.#io = io;
    this.#handler = handler;
    this.#multiplex = new Multiplex(io.timing.random);
    this.#driver = new StreamDriver(this.#multiplex, io.connect, io.timing, {
      onItems: (items) => this.#take(items),
      onStatus: (status) => this.#follow(status),
    });
  }

  /** How the connection does. */
  get status(): LinkStatus {
    return this.#status;
  }

  /** Whether no conversation has a place here. */
  get isEmpty(): boolean {
    return this.channels.size === 0;
  }

  /** Whether another conversation finds room. */
  hasRoom(units: number): boolean {
    return this.channels.size < STREAM_CONVERSATIONS_MAX && this.#units + units <= LIST_UNITS_MAX;
  }

  /** The number of the last frame of a conversation; null while it is not read. */
  cursor(conversationId: string): number | null {
    return this.#multiplex.cursor(conversationId);
  }

  /** Keeps a place for a conversation. */
  reserve(channel: Channel): void {
    if (this.channels.has(channel)) return;
    this.channels.add(channel);
    this.#units += listUnits(channel.id);
  }

  /** Reads a conversation from behind `cursor` on: the stream is opened anew, each from its cursor. */
  add(channel: Channel, cursor: number): void {
    this.reserve(channel);
    this.#multiplex.set(channel.id, cursor);
    this.#restartSoon();
  }

  /** Takes a conversation off. The stream stays as it is: what still comes is passed over. */
  remove(channel: Channel): void {
    if (!this.channels.delete(channel)) return;
    this.#units -= listUnits(channel.id);
    this.#multiplex.remove(channel.id);
    this.#pauseIfEmpty();
  }

  /** Opens the stream anew. */
  restart(): void {
    this.#cancelRestart?.();
    this.#cancelRestart = null;
    if (!this.#multiplex.isEmpty) this.#driver.start();
  }

  /** Opens the stream anew after a pause, though it came to an end. */
  retryLater(error: GatewayError): void {
    this.#failureCount += 1;
    const { timing } = this.#io;
    const delayMs = retryPauseMs(this.#failureCount, timing.random);
    this.#cancelRestart?.();
    this.#cancelRestart = timing.schedule(delayMs, () => this.restart());
    this.#follow({ kind: "waiting", error, retryAtMs: timing.nowMs() + delayMs });
  }

  /** See `StreamDriver.wake`. */
  wake(): void {
    this.#failureCount = 0;
    this.#multiplex.encourage();
    if (this.#cancelRestart === null) this.#driver.wake();
    else this.restart();
  }

  /** Ends for good. */
  close(): void {
    this.#cancelRestart?.();
    this.#driver.close();
  }

  // Several that come in one turn of the event loop are one change.
  #restartSoon(): void {
    this.#cancelRestart ??= this.#io.timing.schedule(0, () => {
      this.restart();
    });
  }

  // An empty list is no question that a gateway answers.
  #pauseIfEmpty(): void {
    if (!this.#multiplex.isEmpty) return;
    this.#driver.pause();
    this.#status = { kind: "connecting" };
  }

  #take(items: readonly ManyItem[]): void {
    const frames: Frame[] = [];
    for (const item of items) {
      if (item.kind === "frame") {
        // It says where this connection began, which concerns nobody else.
        if (item.frame.type !== "subscription.ready") frames.push(item.frame);
      } else {
        if (frames.length > 0) this.#handler.onFrames(frames.splice(0));
        this.#handler.onLost(item.conversationId, item.code);
      }
    }
    this.#pauseIfEmpty();
    if (frames.length > 0) this.#handler.onFrames(frames);
  }

  #follow(status: LinkStatus): void {
    // A stream that is opened anew because the set has changed is no news for who is on it.
    if (status.kind === "connecting" && this.#status.kind === "live") return;
    if (status.kind === this.#status.kind && status.kind !== "waiting" && status.kind !== "ended") {
      return;
    }
    this.#status = status;
    if (status.kind === "live") this.#failureCount = 0;
    this.#handler.onStatus(status);
  }
}
