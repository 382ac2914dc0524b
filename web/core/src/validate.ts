/**
 * Checks of blocks, messages and what events hold against the tables in `fields.ts`.
 *
 * Spec: docs/spec/content/model.md. Every refusal names the offending member by JSON Pointer.
 */

import { ProtocolError } from "./errors.ts";
import type { Block, Message } from "./events.ts";
import {
  BLOCK_FIELDS,
  COMMON_BLOCK_FIELDS,
  ENUMS,
  type Fields,
  isEnumKind,
  isScalarKind,
  type Kind,
  MESSAGE_FIELDS,
  REQUEST_FIELDS,
  type RecordKind,
  SCALARS,
  TERMINAL_STATUSES,
  TOOL_CHANGES,
  TURN_FIELDS,
} from "./fields.ts";
import { isType } from "./names.ts";
import { isObject, type Json, type JsonObject, memberNames, pointerTo } from "./values.ts";

function refusal(code: string, pointer: string, expected: string): ProtocolError {
  return new ProtocolError(code, `expected ${expected}`, pointer);
}

/**
 * Checks that `record` has the required members and that known ones hold what they should.
 *
 * Throws `ProtocolError`: `missing_member`, `invalid_member`, `invalid_name`, `invalid_enum`, with a
 * pointer below `pointer`, which is empty for the root.
 */
export function checkMembers(record: JsonObject, fields: Fields, pointer: string): void {
  for (const [name, { kind, required }] of fields) {
    if (Object.hasOwn(record, name)) {
      checkValue(record[name] as Json, kind, `${pointer}/${name}`);
    } else if (required) {
      throw new ProtocolError("missing_member", `${name} is required`, `${pointer}/${name}`);
    }
  }
}

function checkValue(value: Json, kind: Kind, pointer: string): void {
  if (isScalarKind(kind)) {
    const { test, code, expected } = SCALARS[kind];
    if (!test(value)) throw refusal(code, pointer, expected);
  } else if (isEnumKind(kind)) {
    const words = ENUMS[kind];
    if (typeof value !== "string" || !words.has(value)) {
      throw refusal("invalid_enum", pointer, `one of ${[...words].join(", ")}`);
    }
  } else {
    RECORDS[kind](value, pointer);
  }
}

function asObject(value: Json, pointer: string, what: string): JsonObject {
  if (!isObject(value)) throw refusal("invalid_member", pointer, `${what}, which is an object`);
  return value;
}

function asArray(value: Json, pointer: string, what: string): Json[] {
  if (!Array.isArray(value)) throw refusal("invalid_member", pointer, `an array of ${what}`);
  return value;
}

/** Returns `value` as a block; its keys are checked by the door, from the root. */
export function checkBlock(value: Json, pointer = ""): Block {
  const block = asObject(value, pointer, "a block");
  checkMembers(block, COMMON_BLOCK_FIELDS, pointer);
  const type = block.type as string;
  if (!isType(type)) throw refusal("invalid_enum", `${pointer}/type`, "a lower-case block type");
  const known = BLOCK_FIELDS.get(type);
  if (known !== undefined) checkMembers(block, known, pointer);
  return block as Block;
}

/** Returns `value` as a message; its keys are checked by the door. */
export function checkMessage(value: Json, pointer = ""): Message {
  const message = asObject(value, pointer, "a message");
  checkMembers(message, MESSAGE_FIELDS, pointer);
  const completedAt = message.completed_at;
  if (typeof completedAt === "number" && completedAt < (message.created_at as number)) {
    throw refusal("invalid_member", `${pointer}/completed_at`, "a time not before created_at");
  }
  return message as Message;
}

function checkCompleteMessage(value: Json, pointer: string): void {
  if (!TERMINAL_STATUSES.has(checkMessage(value, pointer).status)) {
    throw refusal("invalid_enum", `${pointer}/status`, "completed, failed or cancelled");
  }
}

/** Checks each item of an array, and that no two of them have one id. */
function checkList(
  value: Json,
  pointer: string,
  what: string,
  repeated: string,
  check: (item: Json, pointer: string) => Readonly<JsonObject>,
): void {
  const seen = new Set<Json>();
  for (const [index, item] of asArray(value, pointer, what).entries()) {
    const id = check(item, `${pointer}/${index}`).id as Json;
    if (seen.has(id)) {
      throw new ProtocolError(repeated, "an id stands for one thing", `${pointer}/${index}/id`);
    }
    seen.add(id);
  }
}

function checkTurn(value: Json, pointer: string): JsonObject {
  const turn = asObject(value, pointer, "a turn");
  checkMembers(turn, TURN_FIELDS, pointer);
  return turn;
}

function checkToolChanges(value: Json, pointer: string): void {
  const changes = asObject(value, pointer, "a set of changes");
  for (const name of memberNames(changes)) {
    if (!TOOL_CHANGES.has(name)) {
      throw new ProtocolError(
        "field_not_mutable",
        "only results, times and status of a tool block change",
        pointer + pointerTo([name]),
      );
    }
  }
  checkMembers(changes, TOOL_CHANGES, pointer);
}

const RECORDS: Readonly<Record<RecordKind, (value: Json, pointer: string) => void>> = {
  block: checkBlock,
  blocks: (value, pointer) => checkList(value, pointer, "blocks", "block_exists", checkBlock),
  complete_message: checkCompleteMessage,
  messages: (value, pointer) =>
    checkList(value, pointer, "messages", "message_exists", checkMessage),
  turns: (value, pointer) => checkList(value, pointer, "turns", "turn_exists", checkTurn),
  tool_changes: checkToolChanges,
  request: (value, pointer) =>
    checkMembers(asObject(value, pointer, "a request"), REQUEST_FIELDS, pointer),
};
