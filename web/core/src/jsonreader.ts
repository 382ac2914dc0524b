/** The parser below `decodeJson`: one pass, no recursion beyond the bound of levels. */

import { ProtocolError } from "./errors.ts";
import { type Json, type JsonObject, JsonReal, keepOrder } from "./values.ts";

/** Decimal digits of an integer; conversion of longer ones takes quadratic time. */
export const INTEGER_DIGITS_MAX = 4300;

// A text that nests deeper is given up at once; the bound of the door is looked at when the text has
// turned out to be JSON at all, so that the code does not depend on where the fault stands.
const READER_DEPTH_MAX = 200;

const QUOTE = 0x22;
const MINUS = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const ARRAY_END = 0x5d;
const OBJECT_END = 0x7d;
const ZERO = 0x30;
const NINE = 0x39;
const SMALL_U = 0x75;
const BLANK = 0x20;

const ESCAPES: ReadonlyMap<number, string> = new Map(
  Object.entries({
    '"': '"',
    "\\": "\\",
    "/": "/",
    b: "\b",
    f: "\f",
    n: "\n",
    r: "\r",
    t: "\t",
  }).map(([letter, text]) => [letter.charCodeAt(0), text]),
);
const HEX4 = /^[0-9A-Fa-f]{4}$/;

/** Reads one text once. */
export class JsonReader {
  readonly #text: string;
  readonly #depthMax: number;
  #at = 0;
  #isTooDeep = false;
  #hasInfinity = false;

  constructor(text: string, depthMax: number) {
    this.#text = text;
    this.#depthMax = depthMax;
  }

  /** Returns the value of the whole text; see `decodeJson` for the refusals. */
  readWhole(): Json {
    if (this.#text.charCodeAt(0) === 0xfeff) {
      throw new ProtocolError("invalid_json", "a byte-order mark is not allowed");
    }
    this.#skipBlanks();
    const value = this.#value(0);
    this.#skipBlanks();
    if (this.#at < this.#text.length) throw this.#notJson();
    if (this.#hasInfinity) {
      throw new ProtocolError("number_out_of_range", "a number is not a finite binary64");
    }
    if (this.#isTooDeep) throw new ProtocolError("nesting_too_deep", "nested too deeply");
    return value;
  }

  #value(depth: number): Json {
    const text = this.#text;
    switch (text[this.#at]) {
      case '"':
        return this.#string();
      case "{":
        return this.#object(depth + 1);
      case "[":
        return this.#array(depth + 1);
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number(depth);
    }
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#notJson();
    this.#at += word.length;
    return value;
  }

  #enter(depth: number): void {
    if (depth > READER_DEPTH_MAX) {
      throw new ProtocolError("nesting_too_deep", `nested too deeply${this.#where()}`);
    }
    if (depth > this.#depthMax) this.#isTooDeep = true;
    this.#at += 1;
    this.#skipBlanks();
  }

  #array(depth: number): Json[] {
    this.#enter(depth);
    const items: Json[] = [];
    if (this.#takes(ARRAY_END)) return items;
    for (;;) {
      items.push(this.#value(depth));
      this.#skipBlanks();
      if (this.#takes(ARRAY_END)) return items;
      this.#expect(COMMA);
      this.#skipBlanks();
    }
  }

  #object(depth: number): JsonObject {
    this.#enter(depth);
    const members = Object.create(null) as JsonObject;
    // Kept only when a name begins with a digit: JavaScript would put such names first.
    let order: string[] | undefined;
    if (this.#takes(OBJECT_END)) return members;
    for (;;) {
      if (this.#text.charCodeAt(this.#at) !== QUOTE) throw this.#notJson();
      const name = this.#string();
      this.#skipBlanks();
      this.#expect(COLON);
      this.#skipBlanks();
      if (this.#at >= this.#text.length) throw this.#notJson();
      if (name in members) {
        throw new ProtocolError(
          "duplicate_member",
          `an object names a member twice${this.#where()}`,
        );
      }
      if (order === undefined && startsWithDigit(name)) order = Object.keys(members);
      order?.push(name);
      members[name] = this.#value(depth);
      this.#skipBlanks();
      if (this.#takes(OBJECT_END)) break;
      this.#expect(COMMA);
      this.#skipBlanks();
    }
    if (order !== undefined) keepOrder(members, order);
    return members;
  }

  #string(): string {
    const text = this.#text;
    let start = this.#at + 1;
    let at = start;
    let before = "";
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) {
        this.#at = at + 1;
        return before + text.slice(start, at);
      }
      if (unit === BACKSLASH) {
        before += text.slice(start, at);
        this.#at = at + 1;
        before += this.#escape();
        start = this.#at;
        at = start;
      } else if (unit >= BLANK) {
        at += 1;
      } else {
        // A raw control, or NaN at the end of the text.
        this.#at = at;
        throw this.#notJson();
      }
    }
  }

  #escape(): string {
    const unit = this.#text.charCodeAt(this.#at);
    this.#at += 1;
    if (unit !== SMALL_U) {
      const plain = ESCAPES.get(unit);
      if (plain === undefined) throw this.#notJson();
      return plain;
    }
    const first = this.#hex4();
    if (first < 0xd800 || first > 0xdfff) return String.fromCharCode(first);
    if (first > 0xdbff) throw this.#loneSurrogate();
    if (this.#at >= this.#text.length) throw this.#notJson();
    if (!this.#text.startsWith("\\u", this.#at)) throw this.#loneSurrogate();
    this.#at += 2;
    const second = this.#hex4();
    if (second < 0xdc00 || second > 0xdfff) throw this.#loneSurrogate();
    return String.fromCharCode(first, second);
  }

  #hex4(): number {
    const digits = this.#text.slice(this.#at, this.#at + 4);
    if (!HEX4.test(digits)) throw this.#notJson();
    this.#at += 4;
    return Number.parseInt(digits, 16);
  }

  #number(depth: number): Json {
    const text = this.#text;
    const start = this.#at;
    if (text.charCodeAt(start) === MINUS) this.#at += 1;
    const firstDigit = this.#at;
    this.#digits();
    const digits = this.#at - firstDigit;
    if (digits > 1 && text.charCodeAt(firstDigit) === ZERO) throw this.#notJson();
    if (digits > INTEGER_DIGITS_MAX) {
      throw new ProtocolError(
        "number_out_of_range",
        `an integer has too many digits${this.#where()}`,
      );
    }
    let isInteger = true;
    if (text.charCodeAt(this.#at) === DOT) {
      isInteger = false;
      this.#at += 1;
      this.#digits();
    }
    if (text[this.#at] === "e" || text[this.#at] === "E") {
      isInteger = false;
      this.#at += 1;
      if (text[this.#at] === "+" || text[this.#at] === "-") this.#at += 1;
      this.#digits();
    }
    const source = text.slice(start, this.#at);
    const value = Number(source);
    if (isInteger) {
      // Adding 0 makes -0 the integer that it is.
      return Number.isSafeInteger(value) ? value + 0 : BigInt(source);
    }
    if (!Number.isFinite(value) && depth <= this.#depthMax) this.#hasInfinity = true;
    return Number.isInteger(value) ? new JsonReal(value) : value;
  }

  /** Goes over one digit or more. */
  #digits(): void {
    const start = this.#at;
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (!(unit >= ZERO && unit <= NINE)) break;
      this.#at += 1;
    }
    if (this.#at === start) throw this.#notJson();
  }

  #takes(unit: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== unit) return false;
    this.#at += 1;
    return true;
  }

  #expect(unit: number): void {
    if (!this.#takes(unit)) throw this.#notJson();
  }

  #skipBlanks(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== BLANK && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.#at += 1;
    }
  }

  #notJson(): ProtocolError {
    return new ProtocolError("invalid_json", `not JSON${this.#where()}`);
  }

  #loneSurrogate(): ProtocolError {
    return new ProtocolError("invalid_unicode", `a string holds a lone surrogate${this.#where()}`);
  }

  /** The place for people: never the text itself, which may hold a secret. */
  #where(): string {
    const lines = this.#text.slice(0, this.#at).split("\n");
    return ` at line ${lines.length} column ${(lines.at(-1) ?? "").length + 1}`;
  }
}

function startsWithDigit(name: string): boolean {
  const unit = name.charCodeAt(0);
  return unit >= ZERO && unit <= NINE;
}
