/**
 * A page's side of the hub: reads conversations through one connection that all tabs of a browser
 * share, and by itself where there is no hub, or none that answers.
 */

import { type FromHub, readStatus, type ToHub } from "./hubmessages.ts";
import type { LinkHandle, LinkHandler, StreamLink } from "./link.ts";
import { SharedReader } from "./sharedreader.ts";
import type { Timing } from "./timing.ts";

/** A hub that has not answered the first word after so long, in milliseconds, is none. */
export const WELCOME_MS = 5_000;

/** How often a page says that it is still there, and asks whether the hub is. */
export const PING_MS = 10_000;

/** Questions in a row that may be without an answer; after one more a hub is made anew. */
export const MISSED_PONGS_MAX = 1;

/** Hubs in a row that may be lost before they have answered a question; then it is given up. */
export const LOST_HUBS_MAX = 3;

/** Who hears of a hub. */
export interface PortListener {
  onMessage(message: FromHub): void;
  /** There is no hub, and there will be none. */
  onFailure(): void;
  /** There was a hub, and it is no more: another one may be made. Nobody needs to say so. */
  onLost(): void;
}

/** The way to a hub. */
export interface SharedPort {
  post(message: ToHub): void;
  listen(listener: PortListener): void;
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
  #lostCount = 0;
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
    const ifOurs = (act: () => void): void => {
      if (this.#port === port) act();
    };
    port.listen({
      onMessage: (message) => ifOurs(() => this.#receive(message)),
      onFailure: () => ifOurs(() => this.#fall()),
      onLost: () => ifOurs(() => this.#lose()),
    });
    port.post({ op: "hello" });
    this.#cancelTimer = this.#options.timing.schedule(WELCOME_MS, () => this.#fall());
  }

  #lose(): void {
    this.#lostCount += 1;
    if (this.#lostCount > LOST_HUBS_MAX) this.#fall();
    else this.#connect();
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
        this.#lostCount = 0;
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
      if (this.#missedPongs > MISSED_PONGS_MAX) this.#lose();
      else this.#post({ op: "ping" });
    };
    this.#cancelTimer = this.#options.timing.schedule(PING_MS, ping);
  }
}
