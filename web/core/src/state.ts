/**
 * What the reducer makes: the state of a conversation.
 *
 * Spec: docs/spec/content/reducer.md. States are immutable and share what did not change: a message or
 * a block that an event did not touch is the same object in the next state.
 */

import { AppendLog } from "./appendlog.ts";
import type { MessageState } from "./messagestate.ts";
import type { TurnState } from "./turnstate.ts";
import { type Json, withMembers } from "./values.ts";

export { BlockState } from "./blockstate.ts";
export { MessageState, messageState } from "./messagestate.ts";
export { TurnState } from "./turnstate.ts";

interface Parts {
  readonly conversationId: string;
  readonly seq: number;
  readonly moreBefore: string | null;
  readonly running: ReadonlyMap<string, TurnState>;
  readonly order: AppendLog<string>;
  readonly finished: AppendLog<MessageState>;
  // Shared by successive states: an entry counts only below finished.length.
  readonly index: Map<string, number>;
}

/** A conversation as the events up to `seq` made it. */
export class ConversationState {
  /** Empty until an event named it. */
  readonly conversationId: string;
  /** The receiver's cursor. */
  readonly seq: number;
  /** Cursor for messages older than the newest snapshot held, or null where there are none. */
  readonly moreBefore: string | null;
  /** Turns that are not terminal, by id. */
  readonly running: ReadonlyMap<string, TurnState>;
  /** The ids of all messages in conversation order. */
  readonly order: AppendLog<string>;
  readonly #finished: AppendLog<MessageState>;
  readonly #index: Map<string, number>;

  private constructor(parts: Parts) {
    this.conversationId = parts.conversationId;
    this.seq = parts.seq;
    this.moreBefore = parts.moreBefore;
    this.running = parts.running;
    this.order = parts.order;
    this.#finished = parts.finished;
    this.#index = parts.index;
  }

  /** A state without messages. */
  static empty(conversationId = "", seq = 0, moreBefore: string | null = null): ConversationState {
    return new ConversationState({
      conversationId,
      seq,
      moreBefore,
      running: new Map(),
      order: AppendLog.of(),
      finished: AppendLog.of(),
      index: new Map(),
    });
  }

  #with(changes: Partial<Parts>): ConversationState {
    return new ConversationState({
      conversationId: this.conversationId,
      seq: this.seq,
      moreBefore: this.moreBefore,
      running: this.running,
      order: this.order,
      finished: this.#finished,
      index: this.#index,
      ...changes,
    });
  }

  /** The number of messages. */
  get count(): number {
    return this.order.length;
  }

  /** The message at `index` in conversation order, from 0. Throws `RangeError` outside. */
  at(index: number): MessageState {
    const id = this.order.at(index);
    const message = id === undefined ? undefined : this.message(id);
    if (message === undefined) throw new RangeError(`no message at ${index}`);
    return message;
  }

  /** The message with this id as it stands. */
  message(id: string): MessageState | undefined {
    const turn = this.running.get(id);
    return turn === undefined ? this.#finishedMessage(id) : turn.messageState;
  }

  /** The turn with this id, running or finished. */
  turn(id: string): TurnState | undefined {
    return this.running.get(id) ?? this.#finishedMessage(id)?.turn;
  }

  /** Whether a message or a running turn has this id. */
  has(id: string): boolean {
    return this.running.has(id) || this.#finishedMessage(id) !== undefined;
  }

  /** All messages in conversation order. */
  *messages(): Iterable<MessageState> {
    for (const id of this.order) yield this.message(id) as MessageState;
  }

  /** The state as JSON: what two receivers of the same events must agree on. */
  spelled(): Json {
    const messages: Json[] = [];
    const turns: Json[] = [];
    for (const { message, turn } of this.messages()) {
      messages.push(message);
      if (turn !== undefined) turns.push(turn.spelled());
    }
    return withMembers({
      conversation_id: this.conversationId,
      seq: this.seq,
      messages,
      turns,
    });
  }

  #finishedMessage(id: string): MessageState | undefined {
    const position = this.#index.get(id);
    if (position === undefined) return undefined;
    // A branch of an older state may have put another message there.
    const message = this.#finished.at(position);
    return message?.id === id ? message : undefined;
  }

  /** The state with its cursor at `seq`; an empty `conversationId` keeps the one it has. */
  withNumbers(seq: number, conversationId: string): ConversationState {
    return this.#with({ seq, conversationId: conversationId || this.conversationId });
  }

  /** The state with a turn that begins: its message is the last one. */
  withStarted(turn: TurnState): ConversationState {
    return this.#with({ running: this.#runningWith(turn), order: this.order.append(turn.id) });
  }

  /** The state with `turn`, which is running already, as it stands now. */
  withRunning(turn: TurnState): ConversationState {
    return this.#with({ running: this.#runningWith(turn) });
  }

  #runningWith(turn: TurnState): ReadonlyMap<string, TurnState> {
    return new Map(this.running).set(turn.id, turn);
  }

  /** The state with a message that never changes again: that of a running turn, or a new one. */
  withFinished(message: MessageState): ConversationState {
    const finished = this.#finished.append(message);
    const changes = this.running.has(message.id)
      ? { running: without(this.running, message.id) }
      : { order: this.order.append(message.id) };
    return this.#with({ ...changes, finished, index: this.#indexWith(message.id, finished) });
  }

  #indexWith(id: string, finished: AppendLog<MessageState>): Map<string, number> {
    const position = finished.length - 1;
    const known = this.#index.get(id);
    if (known === undefined) return this.#index.set(id, position);
    if (known === position) return this.#index;
    // A branch put this message elsewhere: from here on there are two indexes.
    return new Map([...finished].map((message, index) => [message.id, index]));
  }
}

function without(
  running: ReadonlyMap<string, TurnState>,
  id: string,
): ReadonlyMap<string, TurnState> {
  const rest = new Map(running);
  rest.delete(id);
  return rest;
}

/** The state before the first event. */
export const emptyState: ConversationState = ConversationState.empty();
