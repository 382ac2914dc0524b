/**
 * What all tabs of a browser read, on as few connections as possible: it lives in a SharedWorker, but
 * knows nothing of one. Ports in, messages out.
 *
 * Spec: docs/spec/gateway/stream.md, "Several conversations". Why: docs/adr/0206.
 *
 * Here are the pages; what they read is in `hubchannels.ts`, and how each one of them in `hubreader.ts`.
 */

import { HubChannels } from "./hubchannels.ts";
import type { HubIo } from "./hubio.ts";
import { type FromHub, plainStatus, type ToHub } from "./hubmessages.ts";
import { HubReader } from "./hubreader.ts";

/** A page that said nothing for so long is gone: hidden ones may speak once a minute only. */
export const PORT_SILENCE_MS = 150_000;

/** How often silent pages are looked for. */
const SWEEP_MS = 30_000;

/** Where messages for one page go. */
export interface HubPort {
  post(message: FromHub): void;
}

/** One page, as the hub is told of it. */
export interface HubConnection {
  /** Takes a message of the page. */
  receive(message: ToHub): void;
  /** The page is no more. */
  leave(): void;
}

interface Peer {
  readonly port: HubPort;
  readonly readers: Map<number, HubReader>;
  lastSeenMs: number;
}

/** Reads conversations for all pages that are connected. */
export class Hub {
  readonly #io: HubIo;
  readonly #channels: HubChannels;
  readonly #peers = new Set<Peer>();
  #cancelSweep: (() => void) | null = null;

  constructor(io: HubIo) {
    this.#io = io;
    this.#channels = new HubChannels(io);
  }

  /** How much there is, for tests and curiosity. */
  get counts(): { pages: number; channels: number; streams: number } {
    return { pages: this.#peers.size, ...this.#channels.counts };
  }

  /** Takes a page in. */
  connect(port: HubPort): HubConnection {
    const peer: Peer = { port, readers: new Map(), lastSeenMs: 0 };
    return {
      receive: (message) => this.#receive(peer, message),
      leave: () => this.#leave(peer),
    };
  }

  /** Somebody else is logged in, perhaps: what is open was opened as the one before. */
  restart(): void {
    this.#channels.restart();
  }

  #receive(peer: Peer, message: ToHub): void {
    if (message.op === "hello") {
      this.#leave(peer);
      this.#peers.add(peer);
      this.#armSweep();
      peer.port.post({ op: "welcome" });
    } else if (!this.#peers.has(peer)) {
      if (message.op !== "leave") peer.port.post({ op: "gone" });
      return;
    }
    peer.lastSeenMs = this.#io.timing.nowMs();
    switch (message.op) {
      case "ping":
        peer.port.post({ op: "pong" });
        return;
      case "wake":
        this.#channels.wake();
        for (const reader of peer.readers.values()) reader.wake();
        return;
      case "open":
        this.#open(peer, message.key, message.conversationId, message.cursor);
        return;
      case "resync":
        peer.readers.get(message.key)?.resync();
        return;
      case "close":
        peer.readers.get(message.key)?.close();
        return;
      case "leave":
        this.#leave(peer);
        return;
    }
  }

  #leave(peer: Peer): void {
    this.#peers.delete(peer);
    for (const reader of [...peer.readers.values()]) reader.close();
  }

  #open(peer: Peer, key: number, conversationId: string, cursor: number | null): void {
    peer.readers.get(key)?.close();
    const channel = this.#channels.find(conversationId);
    if (channel === null) {
      peer.port.post({ op: "full", key });
      return;
    }
    const reader = new HubReader({
      conversationId,
      cursor,
      io: this.#io,
      send: (texts) => peer.port.post({ op: "events", key, texts }),
      tell: (status) => peer.port.post({ op: "status", key, status: plainStatus(status) }),
      caughtUp: (at) => this.#channels.caughtUp(channel, at),
      full: () => peer.port.post({ op: "full", key }),
      closed: () => {
        peer.readers.delete(key);
        this.#channels.leave(channel, reader);
      },
    });
    peer.readers.set(key, reader);
    reader.start(this.#channels.enter(channel, reader));
  }

  // pages that vanish ----------------------------------------------------------------------

  #armSweep(): void {
    this.#cancelSweep ??= this.#io.timing.schedule(SWEEP_MS, () => {
      this.#cancelSweep = null;
      const nowMs = this.#io.timing.nowMs();
      for (const peer of [...this.#peers]) {
        if (nowMs - peer.lastSeenMs > PORT_SILENCE_MS) this.#leave(peer);
      }
      if (this.#peers.size > 0) this.#armSweep();
    });
  }
}
