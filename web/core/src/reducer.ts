/**
 * The reducer: what each event makes of the state.
 *
 * Spec: docs/spec/content/reducer.md. A refused event changes nothing.
 */

import { BlockState } from "./blockstate.ts";
import { ProtocolError } from "./errors.ts";
import type {
  Block,
  BlockCompleted,
  BlockDelta,
  BlockStarted,
  BlockUpdated,
  MessageCreated,
  StreamEvent,
  TurnEnded,
  TurnResumed,
  TurnStarted,
  TurnSuspended,
} from "./events.ts";
import { END_MEMBERS, STARTED_EXTRAS, TOOL_CHANGES, TOOL_ORDER } from "./fields.ts";
import { MessageState } from "./messagestate.ts";
import { loadSnapshot } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";
import { TurnState } from "./turnstate.ts";
import { type Json, type JsonObject, memberNames, withMembers } from "./values.ts";

/**
 * Returns the state after `event`; `state` never changes.
 *
 * An event that `state` has seen already (`seq` not above the cursor) and one without a number give
 * `state` itself. A snapshot replaces everything, also when its `seq` is lower. The first block of a
 * turn that nobody announced begins it.
 *
 * Throws `ProtocolError`: `sequence_gap` when an event before this one is missing, and each code of
 * `advance`. The receiver asks for a snapshot then; it never guesses.
 */
export function apply(state: ConversationState, event: StreamEvent): ConversationState {
  if (event.type === "conversation.snapshot") return loadSnapshot(event, state);
  const seq = event.seq ?? 0;
  if (seq <= state.seq) return state;
  const prevSeq = event.prev_seq ?? 0;
  if (prevSeq > state.seq) {
    throw new ProtocolError(
      "sequence_gap",
      `event ${seq} follows ${prevSeq}, the cursor is at ${state.seq}`,
    );
  }
  return advance(withTurnOf(state, event), event).withNumbers(seq, event.conversation_id ?? "");
}

/** Returns `state` with the turn that `event` begins unannounced; else `state` itself. */
function withTurnOf(state: ConversationState, event: StreamEvent): ConversationState {
  if (event.type !== "content.block.started" || state.has(event.turn_id)) return state;
  const envelope = withMembers({ role: "assistant", created_at: event.ts ?? 0 });
  return state.withStarted(TurnState.started(event.turn_id, envelope));
}

/**
 * Returns the state after `event` whatever its numbers; the cursor stays, but for a snapshot's.
 *
 * Throws `ProtocolError`: `turn_not_found`, `turn_exists`, `turn_terminal`, `turn_suspended`,
 * `turn_not_suspended`, `message_exists`, `block_not_found`, `block_exists`, `block_complete`,
 * `blocks_open`, `field_not_mutable`, `tool_status_regression`, `tool_not_finished`.
 */
export function advance(state: ConversationState, event: StreamEvent): ConversationState {
  switch (event.type) {
    case "content.block.delta":
      return extend(state, event);
    case "content.block.started":
      return startBlock(state, event);
    case "content.block.updated":
      return updateBlock(state, event);
    case "content.block.completed":
      return completeBlock(state, event);
    case "turn.started":
      return startTurn(state, event);
    case "turn.completed":
    case "turn.failed":
    case "turn.cancelled":
      return endTurn(state, event);
    case "turn.suspended":
      return suspendTurn(state, event);
    case "turn.resumed":
      return resumeTurn(state, event);
    case "message.created":
      return createMessage(state, event);
    case "conversation.snapshot":
      return loadSnapshot(event, state);
    default:
      return state;
  }
}

function openTurn(state: ConversationState, turnId: string): TurnState {
  const turn = state.running.get(turnId);
  if (turn !== undefined) return turn;
  if (state.turn(turnId) !== undefined) {
    throw new ProtocolError("turn_terminal", "the turn is over and never changes");
  }
  throw new ProtocolError("turn_not_found", "no such turn");
}

function openBlock(turn: TurnState, blockId: string): [number, BlockState] {
  const position = turn.position(blockId);
  const block = position === undefined ? undefined : turn.blocks[position];
  if (position === undefined || block === undefined) {
    throw new ProtocolError("block_not_found", "no such block in the turn");
  }
  if (!block.isOpen) {
    throw new ProtocolError("block_complete", "the block is complete and never changes");
  }
  return [position, block];
}

function extend(state: ConversationState, event: BlockDelta): ConversationState {
  const turn = openTurn(state, event.turn_id);
  const [position, block] = openBlock(turn, event.block_id);
  if (block.field === undefined || block.field !== event.field) {
    throw new ProtocolError("field_not_mutable", "deltas extend only the declared text field");
  }
  return state.withRunning(turn.withBlock(position, block.withText(event.text)));
}

function startBlock(state: ConversationState, event: BlockStarted): ConversationState {
  const turn = openTurn(state, event.turn_id);
  if (turn.position(event.block.id) !== undefined) {
    throw new ProtocolError("block_exists", "block ids are unique in their message");
  }
  return state.withRunning(turn.withNewBlock(BlockState.of(event.block, true)));
}

function rank(status: Json | undefined): number {
  return TOOL_ORDER.get(status as string) ?? 0;
}

function checkToolStatus(block: Block, status: Json | undefined): void {
  // A final status may be repeated, never changed; an open one may be repeated or advanced.
  const old = block.status;
  if (old !== status && rank(status) <= rank(old)) {
    throw new ProtocolError("tool_status_regression", `a tool never goes ${old} -> ${status}`);
  }
}

function updateBlock(state: ConversationState, event: BlockUpdated): ConversationState {
  const turn = openTurn(state, event.turn_id);
  const [position, block] = openBlock(turn, event.block_id);
  const changes = event.set as JsonObject;
  if (block.type !== "tool" || !memberNames(changes).every((name) => TOOL_CHANGES.has(name))) {
    throw new ProtocolError("field_not_mutable", "only results and status of a tool change");
  }
  if (Object.hasOwn(event.set, "status")) checkToolStatus(block.block, event.set.status);
  return state.withRunning(turn.withBlock(position, block.withMembers(changes)));
}

function completeBlock(state: ConversationState, event: BlockCompleted): ConversationState {
  const turn = openTurn(state, event.turn_id);
  const [position, block] = openBlock(turn, event.block_id);
  let final = event.block;
  if (block.type === "tool") {
    final = finalTool(block.block, final ?? block.block);
  } else if (final !== undefined) {
    throw new ProtocolError("field_not_mutable", "only a tool repeats itself at its end");
  }
  if (event.provider_data !== undefined && event.provider_data !== null) {
    // A signature comes after the text that it signs, when nothing else may change any more.
    const signature = { provider_data: event.provider_data };
    final = withMembers(final ?? block.block, signature) as Block;
  }
  return state.withRunning(turn.withBlock(position, block.completed(final)));
}

const CALL_MEMBERS = ["id", "type", "tool"];

/** Returns a tool block as it stays: what its end repeats, and nothing received thrown away. */
function finalTool(soFar: Block, final: Block): Block {
  if (CALL_MEMBERS.some((name) => final[name] !== soFar[name])) {
    throw new ProtocolError("field_not_mutable", "a tool block stays the call that it was");
  }
  checkToolStatus(soFar, final.status);
  // A pending one is complete, too: its call is the client's to run.
  if (final.status === "running") {
    throw new ProtocolError("tool_not_finished", "a running tool is not complete");
  }
  return withMembers(soFar, final) as Block;
}

function suspendTurn(state: ConversationState, event: TurnSuspended): ConversationState {
  const turn = openTurn(state, event.turn_id);
  if (turn.status === "suspended") {
    throw new ProtocolError("turn_suspended", "the turn waits for an answer already");
  }
  const blockId = event.request.block_id;
  if (blockId !== undefined && turn.position(blockId as string) === undefined) {
    throw new ProtocolError("block_not_found", "the request names no block of the turn");
  }
  return state.withRunning(turn.withStatus("suspended", { request: event.request }));
}

function resumeTurn(state: ConversationState, event: TurnResumed): ConversationState {
  const turn = openTurn(state, event.turn_id);
  if (turn.status !== "suspended") {
    throw new ProtocolError("turn_not_suspended", "the turn does not wait");
  }
  return state.withRunning(turn.withStatus("streaming"));
}

function createMessage(state: ConversationState, event: MessageCreated): ConversationState {
  if (state.has(event.message.id)) {
    throw new ProtocolError("message_exists", "a message with this id exists");
  }
  return state.withFinished(MessageState.ofMessage(event.message));
}

function startTurn(state: ConversationState, event: TurnStarted): ConversationState {
  if (state.has(event.turn_id)) {
    throw new ProtocolError("turn_exists", "a turn with this id exists");
  }
  const envelope = withMembers({ role: event.role, created_at: event.created_at });
  if (event.model !== undefined) envelope.model = event.model;
  if (event.provider !== undefined) envelope.provider = event.provider;
  const members = event as unknown as JsonObject;
  for (const name of memberNames(members)) {
    if (STARTED_EXTRAS.has(name)) envelope[name] = members[name] as Json;
  }
  return state.withStarted(TurnState.started(event.turn_id, envelope));
}

function endTurn(state: ConversationState, event: TurnEnded): ConversationState {
  const turn = openTurn(state, event.turn_id);
  if (turn.status === "suspended" && event.status === "completed") {
    throw new ProtocolError("turn_suspended", "a waiting turn resumes before it completes");
  }
  if (turn.blocks.some((block) => block.isOpen)) {
    throw new ProtocolError("blocks_open", "blocks complete before their turn ends");
  }
  const envelope = withMembers(turn.envelope);
  if (event.ts) {
    // A clock that was set back must not make a message end before it began.
    envelope.completed_at = Math.max(event.ts, envelope.created_at as number);
  }
  if (event.usage !== undefined) envelope.usage = event.usage;
  const ended = withMembers();
  for (const name of END_MEMBERS) {
    const value = event[name];
    if (value !== undefined) ended[name] = value;
  }
  const over = turn.withStatus(event.status, { ended, envelope });
  return state.withFinished(over.messageState);
}
