/** A conversation's log as a gateway keeps it, with the state of one who read all of it. */

import { eventJson } from "../src/hubio.ts";
import { decodeEvent, emptyState, encodeJson, type Json, type StreamEvent } from "../src/index.ts";
import { apply } from "../src/reducer.ts";
import type { ConversationState } from "../src/state.ts";
import { type JsonObject, withMembers } from "../src/values.ts";
import type { Dice } from "./dice.ts";

type Plain = null | boolean | number | string | Plain[] | { [name: string]: Plain };

function toJson(value: Plain): Json {
  if (Array.isArray(value)) return value.map(toJson);
  if (value === null || typeof value !== "object") return value;
  return withMembers(
    ...Object.entries(value).map(([name, member]) => ({ [name]: toJson(member) }) as JsonObject),
  );
}

/** One log, with the state that a reader of all of it has. */
export class Log {
  readonly id: string;
  readonly events: StreamEvent[] = [];
  state: ConversationState = emptyState;
  #turns = 0;
  #open: { turnId: string; blocks: string[] } | null = null;

  constructor(id: string) {
    this.id = id;
  }

  get head(): number {
    return this.events.at(-1)?.seq ?? 0;
  }

  /** Appends one random event; some numbers are withheld from this view. */
  grow(dice: Dice): StreamEvent {
    const event = this.#next(dice);
    const seq = this.head + 1 + (dice.chance(0.1) ? 1 + dice.below(3) : 0);
    const stamps = {
      conversation_id: this.id,
      seq,
      prev_seq: this.head,
      ts: 1_700_000_000_000 + seq,
    };
    const decoded = decodeEvent(toJson({ ...event, ...stamps }));
    this.state = apply(this.state, decoded);
    this.events.push(decoded);
    return decoded;
  }

  snapshot(reset: boolean): StreamEvent {
    const messages: Json[] = [];
    const turns: Json[] = [];
    const open: Json[] = [];
    for (let at = 0; at < this.state.count; at += 1) {
      const message = this.state.at(at);
      messages.push(message.message as unknown as Json);
      const turn = this.state.turn(message.id);
      if (turn === undefined) continue;
      const blocks = turn.blocks.filter((block) => block.isOpen).map((block) => block.id);
      open.push(...blocks);
      const status = turn.status === "streaming" ? "running" : turn.status;
      turns.push(toJson({ id: message.id, status, open_block_ids: blocks }));
    }
    const spelled: JsonObject = withMembers({
      type: "conversation.snapshot",
      messages,
      turns,
      open_block_ids: open,
      reset,
      conversation_id: this.id,
      seq: this.head,
      ts: 1_700_000_000_000,
    });
    return decodeEvent(spelled);
  }

  #next(dice: Dice): { [name: string]: Plain } {
    const turn = this.#open;
    if (dice.chance(0.05)) return { type: "note.added", text: "of a newer gateway" };
    if (turn === null) {
      this.#turns += 1;
      const turnId = `turn_${this.#turns}`;
      this.#open = { turnId, blocks: [] };
      return {
        type: "turn.started",
        turn_id: turnId,
        role: "assistant",
        created_at: 1_700_000_000_000,
      };
    }
    const { turnId, blocks } = turn;
    const blockId = blocks.at(-1);
    if (blockId === undefined) {
      if (dice.chance(0.3)) {
        this.#open = null;
        return { type: "turn.completed", turn_id: turnId, status: "completed" };
      }
      const id = `b${dice.below(1e9)}`;
      blocks.push(id);
      const block = { id, type: "prose", markdown: "" };
      return { type: "content.block.started", turn_id: turnId, block };
    }
    if (dice.chance(0.2)) {
      blocks.pop();
      return { type: "content.block.completed", turn_id: turnId, block_id: blockId };
    }
    const text = dice.pick(["a", " word", "é", "🙂 ", "\n\n", '"quoted"', "__proto__"]);
    return {
      type: "content.block.delta",
      turn_id: turnId,
      block_id: blockId,
      field: "markdown",
      text,
    };
  }
}

/** Returns the frame of an event, as a gateway writes it. */
export function frameOf(event: StreamEvent, label = String(event.seq ?? 0)): string {
  const id = (event.seq ?? 0) > 0 ? `id: ${label}\n` : "";
  return `${id}event: ${event.type === "unknown" ? event.name : event.type}\ndata: ${encodeJson(eventJson(event))}\n\n`;
}

/** Returns an event without a number. */
export function unnumbered(members: { [name: string]: Plain }): StreamEvent {
  return decodeEvent(toJson(members));
}
