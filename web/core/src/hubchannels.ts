/**
 * The conversations that a hub reads, and the streams on which they come.
 *
 * Spec: docs/spec/gateway/stream.md, "Several conversations". Why: docs/adr/0206.
 *
 * A *channel* is one conversation on a stream, a *reader* one page that looks at it. A reader that
 * comes to a channel listens first and then asks for what it lacks (pages of events, or a snapshot);
 * what it hears meanwhile is kept, and numbers decide what of it is new.
 */

import {
  conversationDeleted,
  type GatewayError,
  streamEnded,
  streamInconsistent,
} from "./failures.ts";
import { HubGroup } from "./hubgroup.ts";
import type { HubIo } from "./hubio.ts";
import type { HubReader } from "./hubreader.ts";
import { type Frame, isListable, listUnits } from "./multiplex.ts";
import { RESYNCS_MAX } from "./reconnecting.ts";
import type { LinkStatus } from "./stream.ts";

/** Streams of one browser; it has six connections for one site, and calls need some of them. */
export const STREAMS_MAX = 2;

/** A conversation that nobody looks at leaves the stream after so long, in milliseconds. */
export const IDLE_MS = 30_000;

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

/** Keeps channels on as few streams as possible. */
export class HubChannels {
  readonly #io: HubIo;
  readonly #channels = new Map<string, Channel>();
  readonly #groups = new Set<HubGroup>();

  constructor(io: HubIo) {
    this.#io = io;
  }

  /** How much there is. */
  get counts(): { channels: number; streams: number } {
    return { channels: this.#channels.size, streams: this.#groups.size };
  }

  /** Opens every stream anew. */
  restart(): void {
    for (const group of this.#groups) group.restart();
  }

  /** Tries now what waits. */
  wake(): void {
    for (const group of this.#groups) group.wake();
  }

  /** Returns the channel of a conversation; null when there is no room for it. */
  find(id: string): Channel | null {
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

  /** Takes a reader in, and returns the number that the stream has reached; null while it is not read. */
  enter(channel: Channel, reader: HubReader): number | null {
    channel.cancelIdle?.();
    channel.cancelIdle = null;
    channel.readers.add(reader);
    return channel.group?.cursor(channel.id) ?? null;
  }

  /** Lets a reader go; a channel without one is forgotten after a while. */
  leave(channel: Channel, reader: HubReader): void {
    channel.readers.delete(reader);
    if (channel.readers.size === 0) this.#armIdle(channel);
  }

  /**
   * A reader has all up to `cursor`: puts its channel on a stream, if it is on none. Returns how the
   * stream does; null when it is ahead of the reader, who would miss what is between.
   */
  caughtUp(channel: Channel, cursor: number): LinkStatus | null {
    const { group } = channel;
    if (group === null) return { kind: "connecting" };
    const reached = group.cursor(channel.id);
    if (reached === null) group.add(channel, cursor);
    else if (reached > cursor) return null;
    return group.status;
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

  #end(channel: Channel, error: GatewayError): void {
    for (const reader of [...channel.readers]) reader.end(error);
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
      this.#end(channel, conversationDeleted());
    }
  }

  #lose(id: string, code: string): void {
    const channel = this.#channels.get(id);
    if (channel === undefined) return;
    channel.lostCount += 1;
    if (channel.lostCount > RESYNCS_MAX) {
      this.#end(channel, streamInconsistent(code));
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
    const reason = error ?? streamEnded();
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
    for (const channel of channels) this.#end(channel, reason);
  }

  /** Ends the conversations that are no more, and returns whether there was one. */
  async #dropMissing(group: HubGroup): Promise<boolean> {
    let isHealed = false;
    for (const channel of [...group.channels]) {
      try {
        const problem = await this.#io.problem(channel.id);
        if (problem === null || this.#channels.get(channel.id) !== channel) continue;
        isHealed = true;
        this.#end(channel, problem);
      } catch {
        // The network went, and nothing is known of this one.
        return isHealed;
      }
    }
    return isHealed;
  }
}
