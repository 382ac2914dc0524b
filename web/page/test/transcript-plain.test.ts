import { apply, decodeEvent, emptyState, type Json, messageState } from "@blockwire/core";
import { describe, expect, it } from "vitest";
import { announcements } from "../src/transcript/live.ts";
import { blockText, folded, markdownText, placesOf } from "../src/transcript/plain.ts";

describe("Markdown as text", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["emphasis", "**bo**ld and *it*, _so_ and ~~gone~~", "bold and it, so and gone"],
    [
      "names with underscores",
      "call snake_case_name and a * b * c",
      "call snake_case_name and a * b * c",
    ],
    ["code", "use `a_b*c` and ``x ` y``", "use a_b*c and x ` y"],
    ["escapes", "\\*not\\* 5 \\< 6", "*not* 5 < 6"],
    [
      "links and images",
      "see [the *docs*](http://x.example/a) and ![a cat](cat.png)",
      "see the docs and a cat",
    ],
    ["addresses", "<https://x.example> it is", "https://x.example it is"],
    ["entities", "a &amp; b &#x41; &#66; &unknown;", "a & b A B &unknown;"],
    ["soft breaks", "one\ntwo\r\nthree", "one two three"],
    ["paragraphs", "one\n\ntwo", "one\ntwo"],
    ["headings", "# One #\ntext\n## Two", "One\ntext\nTwo"],
    ["underlined headings", "One\n===\ntext", "One\ntext"],
    ["lists and quotes", "- one\n- two\n  more\n1. three\n> four", "one\ntwo more\nthree\nfour"],
    [
      "fences",
      "before\n```python\na = `b`\n  **c**\n```\nafter",
      "before\na = `b`\n  **c**\nafter",
    ],
    ["open fences", "~~~\nx < 1", "x < 1"],
    ["tables", "| a | **b** |\n|---|:-:|\n| c | d |", "a\nb\nc\nd"],
    ["rules and definitions", "a\n\n---\n\n[x]: http://x.example\nb", "a\nb"],
    ["nothing", "", ""],
  ];
  for (const [name, source, text] of rows) {
    it(name, () => expect(markdownText(source)).toBe(text));
  }

  it("takes time in its length only", () => {
    // What would take minutes if it were quadratic.
    for (const piece of [
      "*",
      "[",
      "`",
      "``a`",
      "_a",
      "![",
      "[a](b",
      "&#",
      "\\",
      "> ",
      "|",
      "- ",
      "# ",
      " ",
      "<http:",
      "-",
    ]) {
      const text = piece.repeat(60_000);
      expect(markdownText(text).length).toBeLessThanOrEqual(text.length);
      expect(markdownText(`# ${text}x`).length).toBeLessThanOrEqual(text.length + 3);
    }
  });
});

describe("folding", () => {
  it("forgets capitals and counts blanks once", () => {
    expect(folded("A  Fox\tJUMPS\nÖver ΣΑΣ ς")).toBe("a fox jumps\növer σασ σ");
  });

  it("keeps the length where a small letter is longer", () => {
    expect(folded("İstanbul X").length).toBe("İstanbul X".length);
    expect(folded("İstanbul X")).toContain("stanbul x");
  });

  it("tells where each unit came from, for any text", () => {
    const alphabet = ["a", "B", " ", "\t", "\n", "İ", "ß", "🚀", "\u00a0", "Σ"];
    let state = 7;
    for (let round = 0; round < 300; round += 1) {
      let text = "";
      for (let at = 0; at < 30; at += 1) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        text += alphabet[state % alphabet.length] ?? "";
      }
      const map: number[] = [];
      const mapped = folded(text, (index) => map.push(index));
      expect(mapped).toBe(folded(text));
      expect(map).toHaveLength(mapped.length);
      for (let at = 0; at < mapped.length; at += 1) {
        const unit = text[map[at] ?? -1] ?? "";
        expect(folded(unit)).toBe(mapped[at]);
        expect(at === 0 || (map[at] ?? 0) > (map[at - 1] ?? 0)).toBe(true);
      }
    }
  });

  it("finds places that do not overlap", () => {
    expect(placesOf("aa", "aaaaa")).toEqual([0, 2]);
    expect(placesOf("", "abc")).toEqual([]);
    expect(placesOf("x", "abc")).toEqual([]);
  });
});

describe("the text of a block", () => {
  function textOf(block: Record<string, unknown>): string {
    const message = messageState({
      id: "m1",
      role: "assistant",
      status: "completed",
      content: [{ id: "b1", ...block }],
      created_at: 1,
    } as unknown as Json);
    const first = message.blocks[0];
    return first === undefined ? "" : blockText(first);
  }

  it("is what a person sees of each type", () => {
    expect(textOf({ type: "prose", markdown: "**a**" })).toBe("a");
    expect(textOf({ type: "code", language: "c", text: "**a**" })).toBe("**a**");
    expect(
      textOf({
        type: "tool",
        tool: "run",
        status: "completed",
        input: { path: "src", n: [1, "x"], o: {}, l: [] },
        output: null,
        started_at: 1,
        completed_at: 2,
      }),
    ).toBe(
      'run\n{\n  "path": "src",\n  "n": [\n    1,\n    "x"\n  ],\n  "o": {},\n  "l": []\n}\nnull',
    );
    expect(textOf({ type: "x_chart", fallback_text: "a chart" })).toBe("a chart");
    expect(textOf({ type: "x_chart" })).toBe("");
  });
});

describe("what is said aloud", () => {
  let state = emptyState;
  let seq = 0;
  function push(event: Record<string, unknown>): string[] {
    const old = state;
    seq += 1;
    state = apply(
      state,
      decodeEvent({
        conversation_id: "conv_1",
        seq,
        prev_seq: seq - 1,
        ts: 1,
        ...event,
      } as unknown as Json),
    );
    return announcements(old, state);
  }

  it("is the beginning, the end and what failed, and never a token", () => {
    const question = {
      id: "q",
      role: "user",
      status: "completed",
      content: [],
      created_at: 1,
    };
    expect(push({ type: "message.created", message: question })).toEqual([]);
    const started = { type: "turn.started", turn_id: "t", role: "assistant", created_at: 1 };
    expect(push(started)).toEqual(["Answer started"]);
    const prose = { id: "b", type: "prose", markdown: "" };
    expect(push({ type: "content.block.started", turn_id: "t", block: prose })).toEqual([]);
    for (let at = 0; at < 50; at += 1) {
      const delta = { turn_id: "t", block_id: "b", field: "markdown", text: "**word** " };
      expect(push({ type: "content.block.delta", ...delta })).toEqual([]);
    }
    push({ type: "content.block.completed", turn_id: "t", block_id: "b" });
    const tool = { id: "k", type: "tool", tool: "run_tests", status: "running", input: {} };
    expect(push({ type: "content.block.started", turn_id: "t", block: tool })).toEqual([]);
    const failed = { status: "failed", error: { code: "x", message: "no" } };
    const said = [
      ...push({ type: "content.block.updated", turn_id: "t", block_id: "k", set: failed }),
      ...push({ type: "content.block.completed", turn_id: "t", block_id: "k" }),
    ];
    expect(said).toEqual(["Tool run_tests failed"]);
    const ended = push({
      type: "turn.completed",
      turn_id: "t",
      status: "completed",
      completed_at: 2,
    });
    expect(ended).toHaveLength(1);
    expect(ended[0]).toMatch(/^Answer finished: word word/);
    expect((ended[0] ?? "").length).toBeLessThan(230);
  });
});
