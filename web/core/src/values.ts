/**
 * What a JSON value is in memory.
 *
 * Spec: docs/spec/content/json.md. A number keeps its spelling as far as a peer could tell it apart:
 * `1` is a number, `1.0` a `JsonReal`, and an integer that binary64 cannot hold is a bigint.
 */

/** The largest integer that binary64 holds exactly, and the bound of integers in protocol fields. */
export const SAFE_INTEGER_MAX = Number.MAX_SAFE_INTEGER;

/**
 * A number that was spelled with a fraction or an exponent although its value is whole (`1.0`,
 * `1e3`, `-0.0`). Every other fraction is a plain number, which nobody can mistake for an integer.
 */
export class JsonReal {
  readonly value: number;

  /** `value` is finite and whole. */
  constructor(value: number) {
    this.value = value;
  }

  valueOf(): number {
    return this.value;
  }

  toString(): string {
    return realText(this.value);
  }
}

/** An object; those that we make have no prototype, so that `constructor` is an ordinary name. */
export type JsonObject = { [name: string]: Json };

/** A JSON value. */
export type Json = null | boolean | number | bigint | JsonReal | string | Json[] | JsonObject;

/** Tells whether `value` is an object: no array, no null, no `JsonReal`. */
export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonReal)
  );
}

// An object in JavaScript puts names like "0" in front of all others. The rule of keys forbids such
// names in events, but a refusal must name the *first* bad one, so their order is kept beside them.
const orders = new WeakMap<JsonObject, readonly string[]>();

/** Keeps the order of the names of `object`, which JavaScript itself would not keep. */
export function keepOrder(object: JsonObject, names: readonly string[]): void {
  orders.set(object, names);
}

/** The names of the members of `object` in the order in which they came. */
export function memberNames(object: JsonObject): readonly string[] {
  return orders.get(object) ?? Object.keys(object);
}

/** A new object without a prototype that has the members of all `parts`, later ones replacing. */
export function withMembers(...parts: readonly Readonly<JsonObject>[]): JsonObject {
  return Object.assign(Object.create(null), ...parts) as JsonObject;
}

/** The member of this name, or undefined; what an object inherits is no member. */
export function member(object: Readonly<JsonObject>, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The JSON Pointer (RFC 6901) of a place; the root is the empty string. */
export function pointerTo(tokens: readonly (string | number)[]): string {
  return tokens
    .map((token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

// Outside of these the text has an exponent. The bounds are those of the encoder in Python, so that
// texts for people are the same wherever they were made.
const PLAIN_BELOW = 1e16;
const PLAIN_FROM = 1e-5;

/** The shortest text that reads as this finite number again and is no integer. */
export function realText(value: number): string {
  const size = Math.abs(value);
  if (size >= PLAIN_BELOW || (size < PLAIN_FROM && size > 0)) {
    return value.toExponential().replace("e+", "e");
  }
  if (!Number.isInteger(value)) return String(value);
  return Object.is(value, -0) ? "-0.0" : `${value}.0`;
}
