/**
 * What all tabs of a browser read, on as few connections as possible: it lives in a SharedWorker, but
 * knows nothing of one. Ports in, messages out.
 *
 * Spec: docs/spec/gateway/stream.md, "Several conversations". Why: docs/adr/0206.
 *
 * A *channel* is one conversation on the stream, a *reader* one page that looks at it. A reader that
 * comes to a channel listens first and then asks for what it lacks (pages of events, or a snapshot);
 * what it hears meanwhile is kept, and numbers decide what of it is new.
 */

import { GatewayError } from "./failures.ts";
import { HubGroup } from "./hubgroup.ts";
import type { HubIo } from "./hubio.ts";
import { type FromHub, plainStatus, type ToHub } from "./hubmessages.ts";
import { HubReader } from "./hubreader.ts";
import { type Frame, isListable, listUnits } from "./multiplex.ts";
import { RESYNCS_MAX } from "./reconnecting.ts";
import type { LinkStatus } from "./stream.ts";

/** Streams of one browser; it has six connections for one site, and calls need some of them. */
export const STREAMS_MAX = 2;

/** A conversation that nobody looks at leaves the stream after so long, in milliseconds. */
export const IDLE_MS = 30_000;

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

/** One conversation. */
export interface Channel {
  readonly id: string;
  readonly readers: Set<HubReader>;
  /** The stream that it is on, or is about to be. */
  group: HubGroup | null;
  /** How often in a row its events did not fit. */
  lostCount: number;
  cancelIdle: (() => void) | null;
}

interface Peer {
  readonly port: HubPort;
  readonly readers: Map<number, HubReader>;
  lastSeenMs: number;
}

/** Reads conversations for all pages that are connected. */
export class Hub {
  readonly #io: HubIo;
  readonly #channels = new Map<string, Channel>();
  readonly #groups = new Set<HubGroup>();
  readonly #peers = new Set<Peer>();
  #cancelSweep: (() => void) | null = null;

  constructor(io: HubIo) {
    this.#io = io;
  }

  /** How much there is, for tests and curiosity. */
  get counts(): { pages: number; channels: number; streams: number } {
    const { size: pages } = this.#peers;
    return { pages, channels: this.#channels.size, streams: this.#groups.size };
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
    for (const group of this.#groups) group.restart();
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
        for (const group of this.#groups) group.wake();
        for (const reader of peer.readers.values()) reader.wake();
        return;
      case "open":
        this.#open(peer, message.key, message.conversationId, message.cursor);
        return;
      case "resync":
        peer.readers.get(message.key)?.resync();
        return;
      case "close":
        this.#close(peer.readers.get(message.key));
        return;
      case "leave":
        this.#leave(peer);
        return;
    }
  }

  #leave(peer: Peer): void {
    this.#peers.delete(peer);
    for (const reader of [...peer.readers.values()]) this.#close(reader);
  }

  // readers --------------------------------------------------------------------------------

  #open(peer: Peer, key: number, conversationId: string, cursor: number | null): void {
    this.#close(peer.readers.get(key));
    const channel = this.#channel(conversationId);
    if (channel === null) {
      peer.port.post({ op: "full", key });
      return;
    }
    channel.cancelIdle?.();
    channel.cancelIdle = null;
    const reader = new HubReader({
      conversationId,
      cursor,
      io: this.#io,
      send: (texts) => peer.port.post({ op: "events", key, texts }),
      tell: (status) => peer.port.post({ op: "status", key, status: plainStatus(status) }),
      caughtUp: (at) => this.#caughtUp(channel, at),
      failed: (error) => this.#end(reader, error),
      full: () => peer.port.post({ op: "full", key }),
      closed: () => {
        peer.readers.delete(key);
        channel.readers.delete(reader);
        if (channel.readers.size === 0) this.#armIdle(channel);
      },
    });
    peer.readers.set(key, reader);
    channel.readers.add(reader);
    reader.start(channel.group?.cursor(conversationId) ?? null);
  }

  #close(reader: HubReader | undefined): void {
    reader?.close();
  }

  #end(reader: HubReader, error: GatewayError): void {
    reader.tell({ kind: "ended", error });
    reader.close();
  }

  /** A reader has all up to `cursor`: puts its channel on a stream, if it is on none. */
  #caughtUp(channel: Channel, cursor: number): LinkStatus {
    const { group } = channel;
    if (group === null) return { kind: "connecting" };
    if (group.cursor(channel.id) === null) group.add(channel, cursor);
    return group.status;
  }

  // channels -------------------------------------------------------------------------------

  #channel(id: string): Channel | null {
    const known = this.#channels.get(id);
    if (known !== undefined) return known;
    if (!isListable(id) || !this.#hasRoom(id)) return null;
    // Takes its place at once, so that the next one knows that it is taken.
    const group = this.#groupFor(id);
    const channel: Channel = { id, readers: new Set(), group, lostCount: 0, cancelIdle: null };
    group.reserve(channel);
    this.#channels.set(id, channel);
    return channel;
  }

  #hasRoom(id: string): boolean {
    return (
      this.#groups.size < STREAMS_MAX ||
      [...this.#groups].some((group) => group.hasRoom(listUnits(id)))
    );
  }

  #groupFor(id: string): HubGroup {
    const units = listUnits(id);
    for (const group of this.#groups) if (group.hasRoom(units)) return group;
    const group = new HubGroup(this.#io, {
      onFrames: (frames) => this.#deliver(frames),
      onLost: (id, code) => this.#lose(id, code),
      onStatus: (status) => this.#follow(group, status),
    });
    this.#groups.add(group);
    return group;
  }

  #armIdle(channel: Channel): void {
    channel.cancelIdle?.();
    channel.cancelIdle = this.#io.timing.schedule(IDLE_MS, () => {
      if (channel.readers.size === 0) this.#forget(channel);
    });
  }

  #forget(channel: Channel): void {
    channel.cancelIdle?.();
    if (this.#channels.get(channel.id) === channel) this.#channels.delete(channel.id);
    const group = channel.group;
    channel.group = null;
    if (group === null) return;
    group.remove(channel);
    if (group.isEmpty) {
      group.close();
      this.#groups.delete(group);
    }
  }

  #endChannel(channel: Channel, error: GatewayError): void {
    for (const reader of [...channel.readers]) this.#end(reader, error);
    this.#forget(channel);
  }

  // what the streams tell ------------------------------------------------------------------

  #deliver(frames: readonly Frame[]): void {
    const touched = new Set<HubReader>();
    const deleted: Channel[] = [];
    for (const frame of frames) {
      const channel = this.#channels.get(frame.conversationId);
      if (channel === undefined) continue;
      if (frame.seq > 0 && frame.type !== "conversation.snapshot") channel.lostCount = 0;
      for (const reader of channel.readers) {
        reader.take(frame);
        touched.add(reader);
      }
      if (frame.type === "conversation.deleted") deleted.push(channel);
    }
    for (const reader of touched) reader.flush();
    for (const channel of deleted) {
      const detail = "the conversation was deleted";
      this.#endChannel(channel, new GatewayError("conversation_deleted", detail));
    }
  }

  #lose(id: string, code: string): void {
    const channel = this.#channels.get(id);
    if (channel === undefined) return;
    channel.lostCount += 1;
    if (channel.lostCount > RESYNCS_MAX) {
      const detail = `the stream does not fit what came before (${code})`;
      this.#endChannel(channel, new GatewayError("stream_inconsistent", detail));
      return;
    }
    for (const reader of [...channel.readers]) reader.resync();
  }

  #follow(group: HubGroup, status: LinkStatus): void {
    if (status.kind === "ended") {
      void this.#examine(group, status.error);
      return;
    }
    for (const channel of group.channels) {
      for (const reader of [...channel.readers]) reader.follow(status);
    }
  }

  /**
   * A stream of several conversations is refused as a whole: finds out which one is at fault, and goes
   * on without it. What is wrong with all of them ends them all.
   */
  async #examine(group: HubGroup, error: GatewayError | undefined): Promise<void> {
    const reason = error ?? new GatewayError("stream_ended", "the gateway ended the stream");
    if (reason.status === 404) {
      const isHealed = await this.#dropMissing(group);
      if (!this.#groups.has(group)) return;
      if (isHealed) group.restart();
      else group.retryLater(reason);
      return;
    }
    const channels = [...group.channels];
    if (reason.code === "invalid_parameter") {
      // This gateway takes fewer at once. Each page reads what it looks at by itself.
      for (const channel of channels) {
        for (const reader of [...channel.readers]) reader.handBack();
        this.#forget(channel);
      }
      return;
    }
    for (const channel of channels) this.#endChannel(channel, reason);
  }

  /** Ends the conversations that are no more, and returns whether there was one. */
  async #dropMissing(group: HubGroup): Promise<boolean> {
    let isHealed = false;
    for (const channel of [...group.channels]) {
      try {
        const problem = await this.#io.problem(channel.id);
        if (problem === null || this.#channels.get(channel.id) !== channel) continue;
        isHealed = true;
        this.#endChannel(channel, problem);
      } catch {
        // The network went, and nothing is known of this one.
        return isHealed;
      }
    }
    return isHealed;
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
