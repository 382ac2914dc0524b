import { expect, test } from "vitest";
import { BlockParser } from "../src/markdown/blockparser.ts";
import { labelControls, labelMore, MARKS_MAX } from "../src/markdown/text.ts";
import { LINE_SLICE_CHARS, SLICE_CHARS, WaitingText } from "../src/markdown/waiting.ts";

function takeAll(waiting: WaitingText): string[] {
  const slices: string[] = [];
  while (waiting.length > 0) slices.push(waiting.take());
  return slices;
}

test.each([
  ["short lines", "- item\n".repeat(9_000)],
  ["a line without an end", "word ".repeat(20_000)],
  ["lines longer than a slice", `${"word ".repeat(1_000)}\n`.repeat(20)],
  ["less than a slice", "word"],
])("%s are taken in slices, and whole", (_name, text) => {
  const waiting = new WaitingText();
  waiting.add(text);
  const slices = takeAll(waiting);
  expect(slices.join("")).toBe(text);
  expect(Math.max(...slices.map(({ length }) => length))).toBeLessThanOrEqual(LINE_SLICE_CHARS);
  expect(slices).not.toContain("");
  // Twice as much text: twice as many slices.
  waiting.add(text + text);
  expect(takeAll(waiting).length).toBeLessThanOrEqual(2 * slices.length + 1);
});

test("a slice ends with a line, where one ends in reach", () => {
  const waiting = new WaitingText();
  waiting.add("- some item\n".repeat(1_000));
  const slices = takeAll(waiting);
  expect(slices.every((slice) => slice.endsWith("\n") && slice.length <= SLICE_CHARS)).toBe(true);
});

test("what comes while text waits is behind it", () => {
  const waiting = new WaitingText();
  let text = "";
  let taken = "";
  for (let turn = 0; turn < 200; turn++) {
    const more = `${turn} `.repeat(700);
    text += more;
    waiting.add(more);
    if (turn % 3 > 0) taken += waiting.take();
  }
  expect(taken + takeAll(waiting).join("")).toBe(text);
});

test("what is let go does not come again", () => {
  const waiting = new WaitingText();
  waiting.add("old ".repeat(5_000));
  waiting.take();
  waiting.clear();
  expect(waiting.length).toBe(0);
  waiting.add("new");
  expect(waiting.take()).toBe("new");
});

/** Characters that are read of a text that is taken in slices, and how many slices there are. */
function readInSlices(text: string): { reads: number; slices: number } {
  const waiting = new WaitingText();
  waiting.add(text);
  const parser = new BlockParser(false, () => undefined);
  let slices = 0;
  for (; waiting.length > 0; slices++) parser.append(waiting.take());
  parser.finish();
  return { reads: parser.readChars, slices };
}

test.each([
  ["paragraphs", "some words that go on\n\n"],
  ["items", "- item with words\n"],
  ["nested items", "- a\n  - b\n    - c\n"],
  ["quotes", "> > > words\n"],
  ["rows", "| a | b |\n|---|---|\n"],
  ["a fence", "```\nlet a = 1;\n"],
  ["one line", "words that go on "],
])("%s of twice the length are read in twice the work", (_name, piece) => {
  const count = Math.ceil(200_000 / piece.length);
  const once = readInSlices(piece.repeat(count));
  const twice = readInSlices(piece.repeat(2 * count));
  expect(once.reads).toBeLessThanOrEqual(1.1 * count * piece.length);
  expect(twice.reads).toBeLessThanOrEqual(2.1 * once.reads);
  expect(once.slices).toBeGreaterThanOrEqual(200_000 / LINE_SLICE_CHARS);
  expect(twice.slices).toBeLessThanOrEqual(2 * once.slices + 1);
});

const MARK = "\u0301";

test("marks on a letter are shown as they are, up to those of stream-safe text", () => {
  const text = `a${MARK.repeat(MARKS_MAX)} b${MARK}`;
  expect(labelControls(text)).toBe(text);
});

test("more marks than that are counted", () => {
  const shown = `a${MARK.repeat(MARKS_MAX)}`;
  expect(labelControls(`${shown}${MARK}`)).toBe(`${shown}<+1 mark>`);
  expect(labelControls(`${shown}${MARK.repeat(50_000)}b`)).toBe(`${shown}<+50000 marks>b`);
});

test.each([1, 7, 29, 31, 100])("marks that come %i at a time stay few", (size) => {
  let shown = "a";
  for (let turn = 0; turn < 3_000 / size; turn++) shown += labelMore(shown, MARK.repeat(size));
  const runs = shown.match(/\p{M}+/gu) ?? [];
  expect(Math.max(...runs.map(({ length }) => length))).toBeLessThanOrEqual(MARKS_MAX);
  expect(shown).toContain(" mark");
});
