/**
 * What the shell shows of a feed, as signals that move only when their value does: a stream of
 * tokens redraws nothing of the shell.
 */
import type { ConversationFeed, FeedStatus } from "@blockwire/core";
import { batch, type ReadonlySignal, signal } from "@preact/signals";

/** The turn that is not over. */
export interface RunningTurn {
  readonly id: string;
  readonly isSuspended: boolean;
}

export class FeedView {
  readonly status: ReadonlySignal<FeedStatus>;
  readonly running: ReadonlySignal<RunningTurn | null>;
  /** Whether the conversation has messages. */
  readonly hasMessages: ReadonlySignal<boolean>;
  /** Rises whenever a turn begins or ends: then title, totals and the list may be others. */
  readonly turnsChanged: ReadonlySignal<number>;
  readonly #status;
  readonly #running = signal<RunningTurn | null>(null);
  readonly #hasMessages = signal(false);
  readonly #turnsChanged = signal(0);
  readonly #unsubscribe: () => void;

  constructor(feed: ConversationFeed) {
    this.#status = signal<FeedStatus>(feed.status);
    this.status = this.#status;
    this.running = this.#running;
    this.hasMessages = this.#hasMessages;
    this.turnsChanged = this.#turnsChanged;
    const read = (): void => batch(() => this.#read(feed));
    read();
    this.#unsubscribe = feed.subscribe(read);
  }

  close(): void {
    this.#unsubscribe();
  }

  #read(feed: ConversationFeed): void {
    this.#status.value = feed.status;
    this.#hasMessages.value = feed.state.count > 0;
    const turn = runningTurn(feed);
    const before = this.#running.peek();
    if (turn?.id === before?.id && turn?.isSuspended === before?.isSuspended) return;
    this.#running.value = turn;
    if (turn?.id !== before?.id) this.#turnsChanged.value += 1;
  }
}

/** The turn of `feed` that streams or waits for a person; a conversation has one at a time. */
export function runningTurn(feed: ConversationFeed): RunningTurn | null {
  for (const turn of feed.state.running.values()) {
    return { id: turn.id, isSuspended: turn.status === "suspended" };
  }
  return null;
}
