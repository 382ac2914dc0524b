/**
 * The rule of keys, at doors that refuse.
 *
 * Spec: docs/spec/content/keys.md. Conversion of the keys of other formats is the gateway's.
 */

import { ProtocolError } from "./errors.ts";
import { isObject, type Json, memberNames, pointerTo } from "./values.ts";

const KEY = /^[a-z_][a-z0-9_]*$/;

/** Tells whether `name` may be a key of a message, block or event. */
export function isKey(name: string): boolean {
  return KEY.test(name);
}

/**
 * Checks the keys of `value` at every depth.
 *
 * Throws `ProtocolError` with `invalid_key`; its pointer names the first bad key in document order.
 */
export function checkKeys(value: Json): void {
  const path: (string | number)[] = [];
  if (!findBadKey(value, path)) return;
  throw new ProtocolError(
    "invalid_key",
    "keys match ^[a-z_][a-z0-9_]*$; ask for conversion with ?keys=convert",
    pointerTo(path),
  );
}

/** Goes down in document order; when it returns true, `path` leads to the bad key. */
function findBadKey(value: Json, path: (string | number)[]): boolean {
  if (Array.isArray(value)) {
    return value.some((item, index) => descend(item, index, path));
  }
  if (!isObject(value)) return false;
  for (const name of memberNames(value)) {
    if (!isKey(name)) {
      path.push(name);
      return true;
    }
    if (descend(value[name] as Json, name, path)) return true;
  }
  return false;
}

function descend(value: Json, token: string | number, path: (string | number)[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  path.push(token);
  if (findBadKey(value, path)) return true;
  path.pop();
  return false;
}
