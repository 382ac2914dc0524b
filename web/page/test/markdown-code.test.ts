import { expect, test } from "vitest";
import { LINE_CHARS_MAX, LineHighlighter, type Piece } from "../src/markdown/highlight.ts";
import { isKnownLanguage, LANGUAGE_NAMES, loadMode } from "../src/markdown/languages.ts";

const SAMPLE = [
  "def f(x): # a comment",
  '  const a = "string \\" more"; /* open',
  "   still open */ let b = 0x1f + 1.5e3;",
  "<div class='x'>&amp; text</div> <!-- c -->",
  "",
  "SELECT * FROM t WHERE a = 'b'; -- note",
  "key: value  # yaml",
  "[section]",
  "`template $" + "{x}` '''triple",
  "({[((((((",
  "\t\\ 'unclosed",
  "漢字 🏴󠁧󠁢󠁥󠁮󠁧󠁿 é",
];

async function highlighter(language: string): Promise<LineHighlighter> {
  const mode = await loadMode(language);
  if (mode === null) throw new Error(`no mode for ${language}`);
  return new LineHighlighter(mode);
}

function whole(pieces: readonly Piece[]): string {
  return pieces.map((piece) => piece.text).join("");
}

test.each(LANGUAGE_NAMES)(
  "%s: what is coloured is the code, character for character",
  async (name) => {
    const coloured = await highlighter(name);
    for (let round = 0; round < 3; round++) {
      for (const line of SAMPLE) expect(whole(coloured.next(line))).toBe(line);
    }
  },
);

test.each([
  ["python", "x = 'a' # b", ["string", "comment"]],
  ["python", "def f(): return 1", ["keyword", "name", "keyword", "number"]],
  ["ts", 'const a: number = "x"; // y', ["keyword", "name", "string", "comment"]],
  ["json", '{"a": 1, "b": true}', ["number", "number"]],
  ["sql", "SELECT 1 FROM t -- c", ["keyword", "number", "keyword", "comment"]],
  ["rust", "fn main() { let x = 5; }", ["keyword", "name", "keyword", "name", "number"]],
])("%s: %s", async (language, line, roles) => {
  const found = (await highlighter(language)).next(line).map((piece) => piece.role);
  for (const role of roles) expect(found).toContain(role);
});

test("the state is kept between lines, and a twin goes on by itself", async () => {
  const first = await highlighter("python");
  first.next('"""');
  const twin = first.copy();
  expect(first.next("still text")).toEqual([{ text: "still text", role: "string" }]);
  expect(twin.next('"""')).toEqual([{ text: '"""', role: "string" }]);
  expect(twin.next("x = 1").map((piece) => piece.role)).toContain("number");
  expect(first.next("and more")).toEqual([{ text: "and more", role: "string" }]);
});

test("a long line is plain", async () => {
  const line = "1 ".repeat(LINE_CHARS_MAX);
  expect((await highlighter("python")).next(line)).toEqual([{ text: line, role: "" }]);
});

test("a mode that fails colours nothing more, and loses nothing", () => {
  const broken = new LineHighlighter({
    token() {
      throw new Error("broken");
    },
  });
  expect(broken.next("a b")).toEqual([{ text: "a b", role: "" }]);
  expect(broken.next("")).toEqual([]);
});

test("a mode that says nothing is taken on", () => {
  const silent = new LineHighlighter({ token: () => "keyword" });
  expect(whole(silent.next("abc"))).toBe("abc");
});

test("names of languages are found in any case; unknown ones are not", async () => {
  expect(isKnownLanguage("PyThOn")).toBe(true);
  expect(isKnownLanguage("constructor")).toBe(false);
  expect(await loadMode("nothing")).toBeNull();
});
