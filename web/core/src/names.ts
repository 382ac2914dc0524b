/**
 * What may be a name, an id, a code, a type.
 *
 * Spec: docs/spec/content/model.md, "Kinds of values". Blanks and lengths are those of Unicode scalar
 * values, not of what JavaScript calls white space and UTF-16 units.
 */

/** Unicode scalar values of a name that people see, ids included. */
export const NAME_CHARS_MAX = 256;

// C0, DEL and C1: nothing that people see as a name may hold one.
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it looks for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/;
const VISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: some of them are blanks
  /[^\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
const CODE = /^[a-z][a-z0-9_]{0,255}$/;

/** The number of Unicode scalar values in `text`. */
export function countChars(text: string): number {
  let count = 0;
  for (const _char of text) count += 1;
  return count;
}

/** Tells whether people may be shown `value` as a name. */
export function isName(value: unknown): value is string {
  if (typeof value !== "string" || CONTROLS.test(value)) return false;
  if (value.length <= NAME_CHARS_MAX) return true;
  return value.length <= 2 * NAME_CHARS_MAX && countChars(value) <= NAME_CHARS_MAX;
}

/** Tells whether `value` may identify something: a name with a visible character. */
export function isId(value: unknown): value is string {
  return isName(value) && isVisible(value);
}

/** Tells whether `text` holds a character that is no blank. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}

/** Tells whether `value` is a snake_case code. */
export function isCode(value: unknown): value is string {
  return typeof value === "string" && CODE.test(value);
}

/** Tells whether `name`, which is an id, may be the type of a block or event: all lower-case. */
export function isType(name: string): boolean {
  return name === name.toLowerCase();
}
