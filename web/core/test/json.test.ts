import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  decodeJson,
  decodeJsonBytes,
  encodeJson,
  equalJson,
  type Json,
  JsonReal,
  memberNames,
  ProtocolError,
} from "../src/index.ts";
import { suitePath } from "./files.ts";

function codeOf(text: string): string {
  try {
    decodeJson(text);
  } catch (error) {
    if (error instanceof ProtocolError) return error.code;
    throw error;
  }
  return "taken";
}

interface Row {
  readonly file: string;
  readonly osc9002_json_layer?: string;
}

/** Whether the text is taken; if so, it must survive being written and read again. */
function accepts(bytes: Uint8Array): boolean {
  let value: Json;
  try {
    value = decodeJsonBytes(bytes);
  } catch (error) {
    if (error instanceof ProtocolError) return false;
    throw error;
  }
  expect(equalJson(decodeJson(encodeJson(value)), value)).toBe(true);
  return true;
}

/** The verdict on a file of test_transform, for which the manifest has none. */
function transformVerdict(file: string): string {
  return file.includes("same_key") || file.includes("invalid_codepoint") ? "reject" : "accept";
}

const manifest = suitePath("json/manifest.json");

describe.skipIf(manifest === undefined)("the public suite (skipped where it is absent)", () => {
  const rows: Row[] =
    manifest === undefined ? [] : JSON.parse(readFileSync(manifest, "utf8")).files;

  test("is whole", () => {
    expect(rows.length).toBe(340);
  });

  test.each(rows.map((row) => [row.file, row] as const))("%s", (file, row) => {
    const taken = accepts(readFileSync(suitePath(`json/${file}`) as string));
    const verdict = row.osc9002_json_layer ?? transformVerdict(file);
    if (verdict !== "no_crash") expect(taken).toBe(verdict === "accept");
  });
});

interface Sequence {
  readonly id: string;
  readonly hex: string;
  readonly valid: boolean;
}

const sequences = suitePath("utf8/utf8tests.json");

describe.skipIf(sequences === undefined)("UTF-8 (skipped where the suite is absent)", () => {
  const cases: Sequence[] =
    sequences === undefined ? [] : JSON.parse(readFileSync(sequences, "utf8")).cases;

  test.each(cases.map((row) => [row.id, row] as const))("%s", (_, row) => {
    const sequence = Buffer.from(row.hex, "hex");
    const text = (before: string, after: string) =>
      Buffer.concat([Buffer.from(before), sequence, Buffer.from(after)]);
    // Good UTF-8 may still be no JSON string: raw controls are not allowed in one.
    const expected = row.valid && sequence.every((byte) => byte >= 0x20);
    expect(accepts(text('"', '"'))).toBe(expected);
    expect(accepts(text('{"', '":1}'))).toBe(expected);
    expect(accepts(text('[{"a":["', '"]}]'))).toBe(expected);
  });
});

const DIGITS = 4300;

describe("decodeJson", () => {
  test.each([
    ["", "invalid_json"],
    [" ", "invalid_json"],
    ["\ufeff1", "invalid_json"],
    ["1 2", "invalid_json"],
    ["[1,]", "invalid_json"],
    ["{1:1}", "invalid_json"],
    ["01", "invalid_json"],
    ["-", "invalid_json"],
    ["1.", "invalid_json"],
    ["1e", "invalid_json"],
    ["NaN", "invalid_json"],
    ['"a\nb"', "invalid_json"],
    ['"\\x"', "invalid_json"],
    ['"\\u12"', "invalid_json"],
    ['{"a":1,"a":2}', "duplicate_member"],
    ['{"a":1,"\\u0061":2}', "duplicate_member"],
    ['{"__proto__":1,"__proto__":2}', "duplicate_member"],
    ['"\\ud800"', "invalid_unicode"],
    ['"\\udc00"', "invalid_unicode"],
    ['"\\ud83d\\u0041"', "invalid_unicode"],
    ['"\ud800"', "invalid_unicode"],
    ["1e999", "number_out_of_range"],
    ["[-1E400]", "number_out_of_range"],
    ["9".repeat(DIGITS), "taken"],
    [`-${"9".repeat(DIGITS)}`, "taken"],
    ["9".repeat(DIGITS + 1), "number_out_of_range"],
    [`${"[".repeat(64)}1${"]".repeat(64)}`, "taken"],
    ["[".repeat(65) + "]".repeat(65), "nesting_too_deep"],
    [`${"[".repeat(64)}1e999${"]".repeat(64)}`, "number_out_of_range"],
    [`${"[".repeat(65)}1e999${"]".repeat(65)}`, "nesting_too_deep"],
    ["[".repeat(65), "invalid_json"],
    ["[".repeat(100_000), "nesting_too_deep"],
    [`[${"[".repeat(70)}${"]".repeat(70)},1e999]`, "number_out_of_range"],
  ])("%#", (text, code) => {
    expect(codeOf(text)).toBe(code);
  });

  test("says where, and never what", () => {
    expect(() => decodeJson('{\n "secret": nul }')).toThrow(/line 2 column 12$/);
    expect(() => decodeJson('{\n "secret": nul }')).not.toThrow(/secret/);
  });

  test("keeps integers exactly, whatever their size", () => {
    const text = `[${[2n ** 53n - 1n, 2n ** 53n, -(2n ** 64n), 10n ** 300n].join(",")}]`;
    expect(decodeJson(text)).toEqual([2 ** 53 - 1, 2n ** 53n, -(2n ** 64n), 10n ** 300n]);
    expect(encodeJson(decodeJson(text))).toBe(text);
  });

  test("tells a number with a fraction from an integer", () => {
    const value = decodeJson("[1,1.0,1e2,0.5,-0,-0.0,1e300]") as Json[];
    expect(value).toEqual([
      1,
      new JsonReal(1),
      new JsonReal(100),
      0.5,
      0,
      new JsonReal(-0),
      new JsonReal(1e300),
    ]);
    expect(encodeJson(value)).toBe("[1,1.0,100.0,0.5,0,-0.0,1e300]");
    expect(`${value[1]}`).toBe("1.0");
    expect(Number(value[2])).toBe(100);
  });

  test("takes names of prototypes as data", () => {
    const text = '{"__proto__":{"a":1},"constructor":2,"toString":3,"hasOwnProperty":4}';
    const value = decodeJson(text) as Record<string, Json>;
    expect(Object.getPrototypeOf(value)).toBe(null);
    expect(Object.keys(value)).toEqual(["__proto__", "constructor", "toString", "hasOwnProperty"]);
    expect(encodeJson(value)).toBe(text);
  });

  test("keeps the order of names that JavaScript would sort", () => {
    const text = '{"b":1,"2":2,"a":3,"1":{"0":1,"z":2}}';
    const value = decodeJson(text);
    expect(memberNames(value as Record<string, Json>)).toEqual(["b", "2", "a", "1"]);
    expect(encodeJson(value)).toBe(text);
    expect(equalJson(value, decodeJson('{"2":2,"b":1,"a":3,"1":{"0":1,"z":2}}'))).toBe(false);
  });

  test("goes down as far as it is told", () => {
    const text = "[".repeat(200) + "]".repeat(200);
    expect(encodeJson(decodeJson(text, 200))).toBe(text);
  });
});

describe("encodeJson", () => {
  test("writes one line, all but controls, quotes and backslashes as they are", () => {
    expect(encodeJson('\u0000\u001f\n"\\/é\u2028😀\u007f')).toBe(
      '"\\u0000\\u001f\\n\\"\\\\/é\u2028😀\u007f"',
    );
  });

  test.each<[Json]>([
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    ["\ud800"],
    [{ "\udfff": 1 }],
    [undefined as unknown as Json],
    [{ a: undefined as unknown as Json }],
  ])("refuses %o", (value) => {
    expect(() => encodeJson(value)).toThrow(ProtocolError);
  });

  test("refuses a value that contains itself", () => {
    const value: Json[] = [];
    value.push(value);
    expect(() => encodeJson(value)).toThrow("invalid_json_value");
  });
});

describe("equalJson", () => {
  test.each([
    ["1", "1", true],
    ["1", "1.0", false],
    ["0.0", "-0.0", false],
    ["1e2", "100.0", true],
    ["true", "1", false],
    ["null", "{}", false],
    ["[]", "{}", false],
    ["[1]", "[1,2]", false],
    ['{"a":1,"b":2}', '{"a":1,"b":2}', true],
    ['{"a":1,"b":2}', '{"b":2,"a":1}', false],
    ["9007199254740993", "9007199254740993", true],
    ["9007199254740993", "9007199254740992", false],
    ['{"a":[1,{"b":"c"}]}', '{"a":[1,{"b":"c"}]}', true],
  ])("%s and %s: %s", (left, right, same) => {
    expect(equalJson(decodeJson(left), decodeJson(right))).toBe(same);
    expect(equalJson(decodeJson(right), decodeJson(left))).toBe(same);
  });

  test("knows an integer however it is held", () => {
    expect(equalJson(1n, 1)).toBe(true);
    expect(equalJson(2, 1n)).toBe(false);
  });
});
