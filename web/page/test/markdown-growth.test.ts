import { expect, test, vi } from "vitest";
import { BlockParser } from "../src/markdown/blockparser.ts";
import { GrowingText } from "../src/markdown/nodes.ts";
import { type WordsContext, WordsView } from "../src/markdown/wordsview.ts";

/** As much of an element as words need. */
class Words {
  parts: { html: string; remove(): void }[] = [];

  append(part: string | { html: string }): void {
    const html = typeof part === "string" ? part : part.html;
    const made = {
      html,
      remove: () => {
        this.parts = this.parts.filter((other) => other !== made);
      },
    };
    this.parts.push(made);
  }

  get firstChild(): unknown {
    return this.parts[0] ?? null;
  }

  get lastChild(): unknown {
    return this.parts.at(-1) ?? null;
  }

  replaceChildren(): void {
    this.parts = [];
  }

  get html(): string {
    return this.parts.map((part) => part.html).join("");
  }
}

vi.mock("../src/markdown/maths.ts", () => ({ showMaths: () => undefined }));
vi.mock("../src/markdown/sanitise.ts", () => ({ cleanWords: (html: string) => ({ html }) }));
// For a busy machine; nothing here waits.
vi.setConfig({ testTimeout: 60_000 });
vi.stubGlobal("document", {
  createTextNode: () => ({
    html: "",
    appendData(text: string) {
      this.html += text;
    },
  }),
});

function context(maths = false): WordsContext {
  return {
    maths,
    definitions: new Map(),
    parsedChars: 0,
    onMissing: () => undefined,
    onHeightChange: () => undefined,
  };
}

interface Shown {
  html: string;
  parsed: number;
}

function show(pieces: readonly string[], maths = false): Shown {
  const element = new Words();
  const counted = context(maths);
  const view = new WordsView(element as unknown as HTMLElement, counted);
  const source = new GrowingText();
  for (const piece of pieces) {
    source.append(piece);
    view.show(source, 0, false);
  }
  view.show(source, 0, true);
  return { html: element.html, parsed: counted.parsedChars };
}

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

const WORDS =
  "alpha beta *gamma* **delta eta** _zeta_ `code span` [label] [link](http://e.com/a_b) 2 * 3 snake_case &amp; <http://a.b/c> http://x.org/y_z \\* \\[ ~~old~~ a*b*c ** __ ` $5 $x$ \\(y\\) 漢字かな交じり文、長い文が続く。 ]( ![image](http://e.com/i.png) <b> end\n next\\\n line * [open it](http://e.com/u) [also".split(
    " ",
  );

test.each([false, true])("words are the same however they were cut (maths: %s)", (maths) => {
  const next = random(17);
  for (let round = 0; round < 60; round++) {
    const rare = 0.3 + 0.7 * next();
    const count = 40 + Math.floor(next() * 500);
    const words: string[] = [];
    for (let index = 0; index < count; index++) {
      const any = WORDS[Math.floor(next() * WORDS.length)] ?? "";
      words.push(next() < rare ? "plain" : any);
    }
    const text = `x${words.join(" ").replace(/[ \t]*\n[ \t]*/g, "\n")}y`;
    const pieces: string[] = [];
    for (let from = 0; from < text.length; ) {
      const size = 1 + Math.floor(next() * 20);
      pieces.push(text.slice(from, from + size));
      from += size;
    }
    expect(show(pieces, maths).html, JSON.stringify(text)).toBe(show([text], maths).html);
  }
});

const TOKENS = 60_000;
/** Characters that one token may cost on the average, however long the text is. */
const COST_MAX = 3_000;

test.each([
  ["words", () => "word "],
  ["emphasis", (index: number) => (index % 9 === 0 ? "*of* " : "word ")],
  ["links", (index: number) => (index % 9 === 0 ? "[a](http://e.com) " : "word ")],
  ["Chinese", () => "漢字漢字"],
  ["a bracket that nobody closes", (index: number) => (index === 3 ? "[ " : "word ")],
  ["a star that nobody closes", (index: number) => (index === 3 ? "*a" : "word ")],
])("a paragraph of %s costs the same for each token", (_name, token) => {
  const element = new Words();
  const counted = context();
  const view = new WordsView(element as unknown as HTMLElement, counted);
  const source = new GrowingText();
  const costs: number[] = [];
  const tokens = TOKENS / 5;
  for (let index = 0; index < tokens; index++) {
    source.append(token(index));
    view.show(source, 0, false);
    if (index % (tokens / 4) === tokens / 4 - 1) costs.push(counted.parsedChars);
  }
  const [first = 0, , third = 0, last = 0] = costs;
  expect(first).toBeLessThan((COST_MAX * tokens) / 4);
  expect(last - third).toBeLessThan(first * 1.3 + COST_MAX);
});

test.each([
  ["a paragraph of one line", () => "word "],
  ["a paragraph", (index: number) => (index % 12 === 11 ? "\n" : "word ")],
  ["a list", (index: number) => (index % 12 === 0 ? "\n- " : "word ")],
  ["a loose list", (index: number) => (index % 12 === 0 ? "\n\n- " : "word ")],
  [
    "nested lists",
    (index: number) => (index % 12 === 0 ? `\n${" ".repeat((index % 3) * 2)}- ` : "w "),
  ],
  ["a quote", (index: number) => (index % 12 === 0 ? "\n> " : "word ")],
  ["a table", (index: number) => (index === 0 ? "|a|b|\n|-|-|" : index % 12 ? "word " : "\n| x |")],
  ["paragraphs", (index: number) => (index % 12 === 11 ? "\n\n" : "word ")],
  ["indented code", (index: number) => (index % 12 === 0 ? "\n    " : "word ")],
  ["a fence", (index: number) => (index === 0 ? "```py\n" : index % 12 ? "code " : "\n")],
  [
    "a fence in a list",
    (index: number) => (index === 0 ? "- ```\n" : index % 12 ? "code " : "\n  "),
  ],
])("the lines of %s cost the same for each token", (_name, token) => {
  const parser = new BlockParser(false, () => undefined);
  const costs: number[] = [];
  for (let index = 0; index < TOKENS; index++) {
    parser.append(token(index));
    if (index % (TOKENS / 4) === TOKENS / 4 - 1) costs.push(parser.readChars);
  }
  const [first = 0, , third = 0, last = 0] = costs;
  expect(first).toBeLessThan(60 * (TOKENS / 4));
  expect(last - third).toBeLessThan(first * 1.05);
});
