import { decodeJson, encodeJson, equalJson, type Json } from "@blockwire/core";
import { describe, expect, test } from "vitest";
import { Dice } from "../../core/test/dice.ts";
import {
  boundedLength,
  hasValue,
  jsonText,
  SUMMARY_CHARS_MAX,
  summaryLine,
  VALUE_CHARS_MAX,
  VALUE_LINES_MAX,
  valueText,
} from "../src/blocks/values.ts";

test.each([
  ["{}", "{}"],
  ["[]", "[]"],
  ['{"a":[]}', '{\n  "a": []\n}'],
  ['{"b":1.0,"a":[1,"x\\n"]}', '{\n  "b": 1.0,\n  "a": [\n    1,\n    "x\\n"\n  ]\n}'],
  ["123456789012345678901234567890", "123456789012345678901234567890"],
  ["-0.0", "-0.0"],
  ['{"__proto__":null}', '{\n  "__proto__": null\n}'],
])("%s is indented", (source, expected) => {
  expect(jsonText(decodeJson(source))).toBe(expected);
});

test("what is indented is the same value again, to the digit and the order", () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const value = randomValue(seed);
    const again = decodeJson(jsonText(value));
    expect(equalJson(value, again)).toBe(true);
    expect(encodeJson(again)).toBe(encodeJson(value));
  }
});

test("a bound stops the writing soon, and what was written is a beginning", () => {
  const long = decodeJson(`[${Array.from({ length: 50_000 }, (_, at) => at).join(",")}]`);
  const short = jsonText(long, 500);
  expect(short.length).toBeLessThan(600);
  expect(jsonText(long).startsWith(short)).toBe(true);
});

test("a text is shown as it is, with its line breaks", () => {
  expect(valueText("a\r\nb\rc\n")).toBe("a\nb\nc\n");
});

describe("bounds", () => {
  test.each([
    ["", 0],
    ["short\ntext", 10],
    ["x".repeat(VALUE_CHARS_MAX), VALUE_CHARS_MAX],
    ["x".repeat(VALUE_CHARS_MAX + 1), VALUE_CHARS_MAX],
    ["x\n".repeat(VALUE_LINES_MAX - 1), 2 * (VALUE_LINES_MAX - 1)],
    ["x\n".repeat(VALUE_LINES_MAX + 5), 2 * VALUE_LINES_MAX - 1],
  ])("text %#", (text, expected) => {
    expect(boundedLength(text)).toBe(expected);
  });

  test("no pair of surrogates is cut", () => {
    const text = `${"x".repeat(9)}\u{1f600}`;
    expect(boundedLength(text, 10)).toBe(9);
    expect(boundedLength(text, 11)).toBe(11);
  });

  test("what is taken never has more lines or units than allowed", () => {
    for (let seed = 0; seed < 300; seed += 1) {
      const dice = new Dice(seed);
      const text = Array.from(
        { length: dice.below(200) },
        () => "ab\n\u{1f600}c"[dice.below(6)],
      ).join("");
      const chars = 1 + dice.below(40);
      const lines = 1 + dice.below(8);
      const taken = text.slice(0, boundedLength(text, chars, lines));
      expect(taken.length).toBeLessThanOrEqual(chars);
      expect(taken.split("\n").length).toBeLessThanOrEqual(lines);
    }
  });
});

test.each([
  ["null", ""],
  ["{}", ""],
  ['""', ""],
  ['"weather\\nin  Turin"', "weather in Turin"],
  ['{"query":"weather"}', "weather"],
  ['{"paths":["a","b"],"deep":{"x":1}}', 'paths: ["a", "b"], deep: {"x": 1}'],
  ["[1,2]", "[1, 2]"],
  ['{"n":123456789012345678901}', "123456789012345678901"],
  ['"x\\u202ey"', "x<U+202E>y"],
])("the summary of %s", (source, expected) => {
  expect(summaryLine(decodeJson(source))).toBe(expected);
});

test("a summary of megabytes is one short line", () => {
  const large = { text: "word ".repeat(1_000_000), more: Array.from({ length: 9_000 }, () => "x") };
  const line = summaryLine(large as Json);
  expect(line.length).toBeLessThanOrEqual(SUMMARY_CHARS_MAX + 1);
  expect(line.endsWith("\u2026")).toBe(true);
});

test("an empty input says nothing, an empty output does", () => {
  expect(hasValue("input", decodeJson("{}"))).toBe(false);
  expect(hasValue("output", decodeJson("{}"))).toBe(true);
  expect(hasValue("output", "")).toBe(true);
  expect(hasValue("output", null)).toBe(false);
  expect(hasValue("error", undefined)).toBe(false);
});

function randomValue(seed: number): Json {
  const dice = new Dice(seed);
  const make = (depth: number): Json => {
    const kind = dice.below(depth > 4 ? 6 : 8);
    if (kind === 0) return null;
    if (kind === 1) return dice.below(2) === 0;
    if (kind === 2) return dice.below(1_000_000) / 7;
    if (kind === 3) return 2n ** 80n + BigInt(dice.below(1000));
    if (kind === 4) return decodeJson(`${dice.below(100)}.0`);
    if (kind === 5)
      return ["", 'a "quoted" \\ text', "\u{1f600}\n\t", "\u0007"][dice.below(4)] ?? "";
    if (kind === 6) return Array.from({ length: dice.below(5) }, () => make(depth + 1));
    const object: Record<string, Json> = Object.create(null);
    for (let at = dice.below(5); at > 0; at -= 1) object[`k_${dice.below(50)}`] = make(depth + 1);
    return object;
  };
  return make(0);
}
