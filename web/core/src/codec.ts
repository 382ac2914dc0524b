/**
 * Open JSON objects to events.
 *
 * Spec: docs/spec/content/events.md. Strict about what this version knows, lenient about what it does
 * not: unknown members stay where they are, and an unknown type is an `UnknownEvent`.
 */

import { ProtocolError } from "./errors.ts";
import type { StreamEvent } from "./events.ts";
import {
  CONNECTION_EVENTS,
  EVENT_FIELDS,
  STAMP_FIELDS,
  STARTED_EXTRAS,
  TURN_ENDS,
} from "./fields.ts";
import { checkKeys } from "./keys.ts";
import { isId, isType } from "./names.ts";
import { checkMembers } from "./validate.ts";
import { isObject, type Json, type JsonObject, member } from "./values.ts";

/**
 * Returns the event that `value` spells: `value` itself, or an `UnknownEvent` around it. Treat it as
 * frozen from then on.
 *
 * Throws `ProtocolError` with a pointer: `invalid_event`, `missing_member`, `invalid_member`,
 * `invalid_name`, `invalid_enum`, `invalid_key`, `field_not_mutable`, `block_exists`,
 * `message_exists`, `turn_exists`.
 */
export function decodeEvent(value: Json): StreamEvent {
  if (!isObject(value)) throw new ProtocolError("invalid_event", "an event is an object", "");
  checkKeys(value);
  const type = member(value, "type");
  if (!isId(type)) throw new ProtocolError("invalid_event", "an event has a type", "/type");
  const fields = EVENT_FIELDS.get(type);
  if (fields === undefined && !isType(type)) {
    throw new ProtocolError("invalid_enum", "an event type is lower-case", "/type");
  }
  checkStamps(value);
  if (fields === undefined) return withoutFields(type, value);
  checkMembers(value, fields, "");
  checkRelations(type, value);
  return value as unknown as StreamEvent;
}

function withoutFields(type: string, value: JsonObject): StreamEvent {
  if (CONNECTION_EVENTS.has(type)) return value as unknown as StreamEvent;
  const stamps: JsonObject = {};
  for (const name of STAMP_FIELDS.keys()) {
    const stamp = member(value, name);
    if (stamp !== undefined) stamps[name] = stamp;
  }
  return { ...stamps, type: "unknown", name: type, members: value };
}

function checkStamps(value: JsonObject): void {
  checkMembers(value, STAMP_FIELDS, "");
  const seq = (member(value, "seq") ?? 0) as number;
  const prevSeq = (member(value, "prev_seq") ?? 0) as number;
  if (seq > 0 && prevSeq >= seq) {
    throw new ProtocolError("invalid_member", "expected a number before seq", "/prev_seq");
  }
}

/** What the members of one event must be to each other. */
const RELATIONS: ReadonlyMap<string, (event: JsonObject) => void> = new Map([
  ["turn.started", (event: JsonObject) => checkMembers(event, STARTED_EXTRAS, "")],
  ["content.block.completed", checkFinalBlock],
]);

function checkRelations(type: string, event: JsonObject): void {
  const status = TURN_ENDS.get(type);
  if (status !== undefined) checkEnd(type, status, event);
  RELATIONS.get(type)?.(event);
}

function checkEnd(type: string, status: string, event: JsonObject): void {
  if (event.status !== status) {
    throw new ProtocolError("invalid_enum", `${type} repeats its word in status`, "/status");
  }
  if (Object.hasOwn(event, "content")) {
    throw new ProtocolError(
      "invalid_member",
      "a terminal event never repeats the answer",
      "/content",
    );
  }
}

function checkFinalBlock(event: JsonObject): void {
  if (!Object.hasOwn(event, "block")) return;
  const block = event.block as JsonObject;
  if (block.type !== "tool") {
    throw new ProtocolError(
      "field_not_mutable",
      "only a tool repeats itself at its end",
      "/block/type",
    );
  }
  if (block.id !== event.block_id) {
    throw new ProtocolError("invalid_member", "expected the block of block_id", "/block/id");
  }
}
