import { describe, expect, test } from "vitest";
import { checkBlock, countChars, isCode, isId, isName } from "../src/index.ts";

describe("names", () => {
  test.each([
    ["a", true, true],
    ["", true, false],
    [" \u3000\u2003\u00a0", true, false],
    // No blanks to Python and to the specification, whatever `trim` says.
    ["\ufeff", true, true],
    ["\u200b", true, true],
    ["a\nb", false, false],
    ["\u0085", false, false],
    ["\u007f", false, false],
    ["n".repeat(256), true, true],
    ["n".repeat(257), false, false],
    ["😀".repeat(256), true, true],
    ["😀".repeat(257), false, false],
    ["😀".repeat(100_000), false, false],
    [7, false, false],
    [null, false, false],
  ])("%#", (value, name, id) => {
    expect([isName(value), isId(value)]).toEqual([name, id]);
  });

  test("characters are Unicode scalar values", () => {
    expect(countChars("a😀e\u0301")).toBe(4);
  });

  test.each([
    ["a", true],
    ["a_1", true],
    [`a${"b".repeat(255)}`, true],
    [`a${"b".repeat(256)}`, false],
    ["1a", false],
    ["A", false],
    ["a\n", false],
    ["", false],
  ])("code %j: %s", (value, expected) => {
    expect(isCode(value)).toBe(expected);
  });

  test("what is spoken is not blank", () => {
    const speech = (text: string) => ({ id: "b1", type: "speech", text });
    expect(checkBlock(speech("\ufeff")).text).toBe("\ufeff");
    for (const blank of ["", " ", "\u001c", "\u0085", "\u2003\u00a0"]) {
      expect(() => checkBlock(speech(blank))).toThrow("invalid_member at /text");
    }
  });
});
