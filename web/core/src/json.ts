/**
 * JSON text to values and back, strictly: what is accepted here can be written again.
 *
 * Spec: docs/spec/content/json.md. `JSON.parse` takes duplicate names and half surrogate pairs, rounds
 * long integers and nests without a bound; this does not.
 */

import { ProtocolError } from "./errors.ts";
import { JsonReader } from "./jsonreader.ts";
import { isObject, type Json, type JsonObject, JsonReal, memberNames, realText } from "./values.ts";

export type { Json, JsonObject } from "./values.ts";

/** Levels of arrays and objects at a door, the outermost being 1; scalars may stand in the last. */
export const DEPTH_MAX = 64;

/** Levels that are written: what is stored or sent adds some around a value of `DEPTH_MAX`. */
export const ENVELOPED_DEPTH_MAX = 200;

/**
 * Returns the value of one JSON text; blanks around it are allowed.
 *
 * Integers are exact, members keep their order, objects have no prototype. Time is linear.
 *
 * Throws `ProtocolError`: `invalid_json`, `invalid_unicode` (half of a surrogate pair, raw or
 * escaped), `duplicate_member`, `nesting_too_deep` (more than `depthMax` levels, at most 200),
 * `number_out_of_range` (no finite binary64, or an integer of more than 4,300 digits).
 */
export function decodeJson(text: string, depthMax: number = DEPTH_MAX): Json {
  if (!isWellFormed(text)) {
    throw new ProtocolError("invalid_unicode", "a string holds a lone surrogate");
  }
  const reader = new JsonReader(text, depthMax);
  return reader.readWhole();
}

/** Like `decodeJson`, of UTF-8; what is not UTF-8 is `invalid_unicode`. */
export function decodeJsonBytes(bytes: Uint8Array, depthMax: number = DEPTH_MAX): Json {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ProtocolError("invalid_unicode", "not UTF-8");
  }
  return decodeJson(text, depthMax);
}

/**
 * Returns `value` as compact JSON on one line, members in their order.
 *
 * Throws `ProtocolError` with `invalid_json_value` for what JSON cannot hold: NaN, half of a
 * surrogate pair, another type, more than 200 levels (a value that contains itself among them).
 */
export function encodeJson(value: Json): string {
  return textOf(value, ENVELOPED_DEPTH_MAX);
}

function textOf(value: Json, levelsLeft: number): string {
  switch (typeof value) {
    case "string":
      if (!isWellFormed(value)) throw notJson("a string holds a lone surrogate");
      return JSON.stringify(value);
    case "number":
      return numberText(value);
    case "bigint":
    case "boolean":
      return String(value);
    case "object":
      break;
    default:
      throw notJson(`not a JSON type: ${typeof value}`);
  }
  if (value === null) return "null";
  if (value instanceof JsonReal) return realText(value.value);
  if (levelsLeft <= 0) throw notJson("nested too deeply");
  if (Array.isArray(value)) {
    return `[${value.map((item) => textOf(item, levelsLeft - 1)).join(",")}]`;
  }
  const members = memberNames(value).map(
    (name) => `${textOf(name, 1)}:${textOf(value[name] as Json, levelsLeft - 1)}`,
  );
  return `{${members.join(",")}}`;
}

function numberText(value: number): string {
  if (!Number.isFinite(value)) throw notJson("a number is not finite");
  // A whole number beyond the safe range is no integer that anybody wrote exactly.
  return Number.isSafeInteger(value) ? String(value) : realText(value);
}

function notJson(sentence: string): ProtocolError {
  return new ProtocolError("invalid_json_value", sentence);
}

/**
 * Tells whether two values are the same: equal JSON values, members in their order.
 *
 * `1` and `1.0` are different values, as `true` and `1` are: a peer could tell them apart.
 */
export function equalJson(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object") return isSameInteger(left, right);
  if (left === null || right === null) return false;
  if (left instanceof JsonReal || right instanceof JsonReal) {
    return (
      left instanceof JsonReal && right instanceof JsonReal && Object.is(left.value, right.value)
    );
  }
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => equalJson(item, right[index] as Json))
    );
  }
  return isObject(right) && equalObjects(left, right);
}

function equalObjects(left: JsonObject, right: JsonObject): boolean {
  const names = memberNames(left);
  const others = memberNames(right);
  return (
    names.length === others.length &&
    names.every(
      (name, index) => name === others[index] && equalJson(left[name] as Json, right[name] as Json),
    )
  );
}

function isSameInteger(left: Json, right: Json): boolean {
  if (typeof left === "bigint" && typeof right === "number") return isSameInteger(right, left);
  return (
    typeof left === "number" &&
    typeof right === "bigint" &&
    Number.isSafeInteger(left) &&
    BigInt(left) === right
  );
}

const LONE_SURROGATE = /[\ud800-\udfff]/u;

// The built-in is ten times as fast and newer than the oldest engine that we run on.
const builtIn = (String.prototype as { isWellFormed?: () => boolean }).isWellFormed;

/** Tells whether `text` holds Unicode scalar values only. */
export function isWellFormed(text: string): boolean {
  return builtIn === undefined ? !LONE_SURROGATE.test(text) : builtIn.call(text);
}
