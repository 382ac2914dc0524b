/**
 * Runs scripts of events that the reducer in Python has run, and says where this one differs.
 *
 * The scripts come from `tests/web/scripts.py`. The same module runs in Node and in a browser.
 */

import {
  apply,
  type ConversationState,
  decodeEvent,
  decodeJson,
  emptyState,
  encodeJson,
  equalJson,
  type Json,
  type JsonObject,
  type MessageState,
  ProtocolError,
  plainText,
  type StreamEvent,
} from "../src/index.ts";

/** What was compared, and the first differences. */
export interface Verdict {
  readonly scripts: number;
  readonly events: number;
  readonly refused: number;
  readonly states: number;
  readonly differences: string[];
}

const DIFFERENCES_MAX = 20;
// States in the scripts nest deeper than any door allows: events are around the values.
const SCRIPT_DEPTH_MAX = 200;

/** Compares all scripts, one a line. */
export function compareScripts(lines: readonly string[]): Verdict {
  const differences: string[] = [];
  const counts = { events: 0, refused: 0, states: 0 };
  for (const line of lines) {
    const script = JSON.parse(line) as Script;
    for (const difference of compareScript(script, counts)) {
      if (differences.length < DIFFERENCES_MAX) {
        differences.push(`script ${script.seed}: ${difference}`);
      }
    }
  }
  return { scripts: lines.length, ...counts, differences };
}

interface Script {
  readonly seed: number;
  readonly steps: readonly (readonly [string, Refusal | null, string | null])[];
  readonly texts: readonly string[];
  readonly more_before: string | null;
}

type Refusal = readonly [where: string, code: string, pointer: string | null];

function* compareScript(
  script: Script,
  counts: { events: number; refused: number; states: number },
): Iterable<string> {
  let state: ConversationState = emptyState;
  for (const [index, [text, refusal, spelling]] of script.steps.entries()) {
    counts.events += 1;
    const [after, found] = receive(state, text);
    if (JSON.stringify(found) !== JSON.stringify(refusal)) {
      yield `step ${index}: ${JSON.stringify(found)} instead of ${JSON.stringify(refusal)}: ${text.slice(0, 500)}`;
      return;
    }
    if (found !== null) counts.refused += 1;
    const unsound = found === null ? lostIdentity(state, after) : undefined;
    if (unsound !== undefined) yield `step ${index}: ${unsound}`;
    state = after;
    if (spelling !== null) {
      counts.states += 1;
      const expected = decodeJson(spelling, SCRIPT_DEPTH_MAX);
      if (encodeJson(state.spelled()) !== spelling || !equalJson(state.spelled(), expected)) {
        yield `step ${index}: the state is\n${encodeJson(state.spelled())}\ninstead of\n${spelling}`;
        return;
      }
    }
  }
  if (state.moreBefore !== script.more_before) {
    yield `the cursor for older messages is ${state.moreBefore} instead of ${script.more_before}`;
  }
  const texts = [...state.messages()].map((message) => plainText(message, { withReasoning: true }));
  if (JSON.stringify(texts) !== JSON.stringify(script.texts)) {
    yield `the texts are\n${JSON.stringify(texts)}\ninstead of\n${JSON.stringify(script.texts)}`;
  }
}

function receive(state: ConversationState, text: string): [ConversationState, Refusal | null] {
  let where = "json";
  try {
    const value: Json = decodeJson(text);
    where = "codec";
    const event: StreamEvent = decodeEvent(value);
    where = "reducer";
    return [apply(state, event), null];
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return [state, [where, error.code, where === "codec" ? (error.pointer ?? null) : null]];
  }
}

/** Says which message or block is the same as before and yet another object, or the other way. */
function lostIdentity(before: ConversationState, after: ConversationState): string | undefined {
  for (const message of after.messages()) {
    const old = before.message(message.id);
    if (old === undefined) continue;
    if (old !== message && isSame(old, message))
      return `${message.id} is needlessly another object`;
    for (const [index, block] of message.blocks.entries()) {
      const was = old.blocks[index];
      if (was === undefined || was === block) continue;
      if (was.isOpen === block.isOpen && sameValue(was.block, block.block)) {
        // A delta without text and an update that says nothing may make a new object.
        if (was.length === block.length && block.isOpen) continue;
        return `block ${block.id} of ${message.id} is needlessly another object`;
      }
      if (
        block.continues(was) &&
        block.textSince(0) !== was.textSince(0) + block.textSince(was.length)
      ) {
        return `block ${block.id} of ${message.id} does not continue`;
      }
    }
  }
  return undefined;
}

function isSame(old: MessageState, message: MessageState): boolean {
  return (
    message.turn === undefined && old.turn === undefined && sameValue(old.message, message.message)
  );
}

function sameValue(left: Readonly<JsonObject>, right: Readonly<JsonObject>): boolean {
  return equalJson(left, right);
}
