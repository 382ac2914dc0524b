import { describe, expect, it } from "vitest";
import { type HitPage, hasWord, PAUSE_MS, Search } from "../src/shell/search.ts";
import { groupHits, markdownParts, snippetParts } from "../src/shell/snippets.ts";

interface Hit {
  readonly conversation_id: string;
  readonly title?: string;
  readonly no: number;
}

/** A search that answers when it is told to. */
class Bench {
  asked: { q: string; cursor?: string; tag?: string }[] = [];
  answers: ((page: HitPage<Hit>) => void)[] = [];
  refusals: ((error: Error) => void)[] = [];
  waiting: { work: () => void; ms: number; isCancelled: boolean }[] = [];
  readonly search = new Search<Hit>(
    (query) => {
      this.asked.push(query);
      return new Promise((resolve, reject) => {
        this.answers.push(resolve);
        this.refusals.push(reject);
      });
    },
    (work, ms) => {
      const timer = { work, ms, isCancelled: false };
      this.waiting.push(timer);
      return () => {
        timer.isCancelled = true;
      };
    },
  );
  pause() {
    const due = this.waiting.filter(({ isCancelled }) => !isCancelled);
    this.waiting = [];
    for (const { work } of due) work();
  }
  async answer(at: number, hits: Hit[], nextCursor: string | null = null) {
    this.answers[at]?.({ items: hits, nextCursor, isBuilding: false });
    await Promise.resolve();
    await Promise.resolve();
  }
}

const hit = (no: number, conversation = "a"): Hit => ({
  no,
  conversation_id: conversation,
  title: `Title ${conversation}`,
});

describe("the search", () => {
  it("asks once for what is typed in one go", async () => {
    const bench = new Bench();
    for (const query of ["c", "co", "con"]) bench.search.type(query);
    expect(bench.waiting.filter(({ isCancelled }) => !isCancelled)).toMatchObject([
      { ms: PAUSE_MS },
    ]);
    bench.pause();
    expect(bench.asked.map(({ q }) => q)).toEqual(["con"]);
    await bench.answer(0, [hit(1), hit(2, "b"), hit(3)]);
    expect(bench.search.status.value).toBe("done");
    expect(bench.search.groups.value.map((g) => [g.conversationId, g.hits.length])).toEqual([
      ["a", 2],
      ["b", 1],
    ]);
  });

  it("shows no answer to an older question", async () => {
    const bench = new Bench();
    bench.search.type("one");
    bench.pause();
    bench.search.type("two");
    bench.pause();
    await bench.answer(1, [hit(2)]);
    await bench.answer(0, [hit(1)]);
    expect(bench.search.groups.value[0]?.hits).toEqual([hit(2)]);
    bench.search.type("three");
    bench.pause();
    bench.search.clear();
    await bench.answer(2, [hit(3)]);
    expect(bench.search.groups.value).toEqual([]);
    expect(bench.search.status.value).toBe("idle");
  });

  it("goes on from page to page", async () => {
    const bench = new Bench();
    bench.search.type("word");
    bench.pause();
    await bench.answer(0, [hit(1)], "next");
    expect(bench.search.hasMore.value).toBe(true);
    const more = bench.search.more();
    void bench.search.more(); // a second press while it loads
    expect(bench.asked[1]).toMatchObject({ q: "word", cursor: "next" });
    await bench.answer(1, [hit(2, "b")]);
    await more;
    expect(bench.asked).toHaveLength(2);
    expect(bench.search.hasMore.value).toBe(false);
    expect(bench.search.groups.value.map(({ conversationId }) => conversationId)).toEqual([
      "a",
      "b",
    ]);
  });

  it("says what failed, and asks again", async () => {
    const bench = new Bench();
    bench.search.type("word");
    bench.pause();
    const failure = new Error("no way");
    bench.refusals[0]?.(failure);
    await Promise.resolve();
    await Promise.resolve();
    expect(bench.search.status.value).toBe("failed");
    expect(bench.search.error.value).toBe(failure);
    bench.search.again();
    bench.pause();
    await bench.answer(1, [hit(1)]);
    expect(bench.search.status.value).toBe("done");
    expect(bench.search.error.value).toBeNull();
  });

  it("narrows by tag at once", () => {
    const bench = new Bench();
    bench.search.type("word");
    bench.pause();
    bench.search.setTag("work");
    bench.pause();
    expect(bench.asked[1]).toMatchObject({ q: "word", tag: "work" });
  });

  it("takes no more than the gateway does", () => {
    const bench = new Bench();
    bench.search.type("🌸".repeat(600));
    expect(Array.from(bench.search.query.value)).toHaveLength(512);
  });

  it.each([
    ["", false],
    ["  ", false],
    ['"', false],
    ["-word", false],
    ["-a b", true],
    ["東", true],
    ["🚀", true],
    ["...", false],
  ])("asks only for words: %j", (query, isAsked) => {
    expect(hasWord(query)).toBe(isAsked);
  });
});

describe("snippets", () => {
  it.each([
    ["a Connection reset b", [{ start: 2, end: 18 }], "a [Connection reset] b"],
    // Places are scalars, not UTF-16 units.
    ["🌸🌸 word", [{ start: 3, end: 7 }], "🌸🌸 [word]"],
    [
      "ab",
      [
        { start: 0, end: 1 },
        { start: 1, end: 2 },
      ],
      "[a][b]",
    ],
    ["ab", [{ start: 1, end: 9 }], "a[b]"],
    ["ab", [], "ab"],
    // Overlapping and backward matches, which no gateway sends, lose nothing.
    [
      "abcd",
      [
        { start: 0, end: 3 },
        { start: 1, end: 2 },
      ],
      "[abc]d",
    ],
    ["a\n\tb\u0007c\u202ed\u007f", [], "a b␇cd␡"],
    ["<b>&amp;", [{ start: 0, end: 3 }], "[<b>]&amp;"],
  ])("marks %j", (text, matches, marked) => {
    const shown = snippetParts(text, matches)
      .map((part) => (part.isMatch ? `[${part.text}]` : part.text))
      .join("");
    expect(shown).toBe(marked);
  });

  it.each([
    [
      "A **Bloom filter** answers *one* question",
      "filter",
      "A Bloom [filter] answers one question",
    ],
    ["see [the docs](https://example.org/a) and `code`", "docs", "see the [docs] and code"],
    ["a **Bloom** filter", "Bloom** filter", "a [Bloom filter]"],
    ["## How it works\n\nTake an array", "works", "How it [works] · Take an array"],
    ["```python\nprint(1)\n```\nDone", "print", "[print](1) · Done"],
    ["- one\n- two\n\n> said", "two", "one · [two] · said"],
    ["| city | day |\n|---|---|\n| Quito | 12 h |", "Quito", "city · day · [Quito] · 12 h"],
    ["snake_case_name and __bold__", "case", "snake_[case]_name and bold"],
    ["2 * 3 * 4", "3", "2 * [3] * 4"],
    // What matched is in what would go: as it was written.
    ["[docs](https://example.org/bloom)", "bloom", "[docs](https://example.org/[bloom])"],
    ["```python\nx\n```", "python", "```[python] x ```"],
    // Links that the snippet cuts.
    ["docs](https://example.org/a) say so", "say", "docs [say] so"],
    ["so say [the docs](https://example.org/a", "say", "so [say] the docs"],
    ["\u{12398}**a**\u{12399} b", "b", "a [b]"],
  ])("are read, not spelt, where they are Markdown: %j", (text, word, shown) => {
    const start = Array.from(text.slice(0, text.lastIndexOf(word))).length;
    const edges = { at_start: false, at_end: false };
    const parts = markdownParts(text, [{ start, end: start + word.length }], edges);
    expect(parts.map((part) => (part.isMatch ? `[${part.text}]` : part.text)).join("")).toBe(shown);
  });

  it("keep the order of the search in their groups", () => {
    const groups = groupHits([hit(1, "b"), hit(2, "a"), hit(3, "b")]);
    expect(groups.map((group) => group.hits.map(({ no }) => no))).toEqual([[1, 3], [2]]);
  });
});
