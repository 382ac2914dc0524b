import { decodeJson, encodeJson, type Json, type JsonObject, plainText } from "@blockwire/core";
import { describe, expect, test, vi } from "vitest";
import {
  choicesOf,
  readAnswer,
  requestOptions,
  takesText,
  UnusableAnswer,
} from "../src/blocks/answers.ts";
import { blockSource, fenced, messageMarkdown } from "../src/blocks/copytext.ts";
import { articleName } from "../src/blocks/head.ts";
import { duration, isoTime, shortTime, sizeWords } from "../src/blocks/moments.ts";
import { shownLine, shownText } from "../src/blocks/shown.ts";
import { addedText } from "../src/blocks/textviews.ts";
import { turnFacts } from "../src/blocks/turnfacts.ts";
import { completed, delta, ended, finished, started, story, told } from "./galleryscenes.ts";

function request(text: string): JsonObject {
  return decodeJson(`{"id":"r","prompt":"?",${text}}`) as JsonObject;
}

describe("answers", () => {
  const approval = request('"kind":"approval"');
  const single = request('"kind":"question","options":"main"');
  const several = request('"kind":"question","options":["main",{"n":1.0},3]');
  const approvalOf = request('"kind":"approval","options":["once","always"]');

  test.each<[string, JsonObject, string, string]>([
    ["yes", approval, " YES ", "true"],
    ["ok", approval, "ok", "true"],
    ["no", approval, "n", "false"],
    ["a number of an approval with options", approvalOf, "2", '"always"'],
    ["a text of such a one", approvalOf, "yes", '"yes"'],
    ["a number", several, "2", '{"n":1.0}'],
    ["a number that has no option", several, "4", '"4"'],
    ["zero", several, "0", '"0"'],
    ["a very long number", several, "0000000001", '"0000000001"'],
    ["the only option", single, "1", '"main"'],
    ["a text", several, "  a b \n", '"a b"'],
  ])("%s", (_, asked, text, answer) => {
    expect(encodeJson(readAnswer(asked, text))).toBe(answer);
  });

  test.each<[JsonObject, string]>([
    [approval, "perhaps"],
    [approval, ""],
    [several, "  "],
  ])("no answer %#", (asked, text) => {
    expect(() => readAnswer(asked, text)).toThrow(UnusableAnswer);
  });

  test("what is offered", () => {
    expect(choicesOf(approval).map((one) => one.answer)).toEqual([true, false]);
    expect(choicesOf(several).map((one) => one.label)).toEqual(["main", '{"n":1.0}', "3"]);
    expect(choicesOf(approvalOf).map((one) => one.label)).toEqual(["once", "always"]);
    expect(requestOptions(request('"kind":"question","options":null'))).toEqual([]);
    expect(choicesOf(request('"kind":"question"'))).toEqual([]);
    expect([approval, approvalOf, several].map(takesText)).toEqual([false, true, true]);
  });
});

describe("copies", () => {
  const message = finished("assistant", [
    { id: "r", type: "reasoning", text: "secret" },
    { id: "p", type: "prose", markdown: "\n**Six** tests.\n\n" },
    {
      id: "t",
      type: "tool",
      tool: "look`up",
      status: "failed",
      input: { a: 1 },
      error: "no\nroute",
      started_at: 1000,
      completed_at: 3500,
    },
    { id: "c", type: "code", text: "ls ````\n", language: "sh" },
    { id: "e", type: "error", code: "tool_failed", message: "It *broke*.\nTwice." },
    { id: "n", type: "notice", code: "history_cut", message: "Cut." },
    { id: "a", type: "attachment", attachment_id: "x", name: "a_b.png", media_type: "image/png" },
    { id: "s", type: "speech", text: "Done." },
    { id: "u", type: "chart.v2", fallback_text: "3, 5" },
    { id: "v", type: "nothing" },
  ]);

  test("a message as Markdown", () => {
    expect(messageMarkdown(message)).toBe(
      [
        "**Six** tests.",
        "> **Tool** ``look`up`` \u00b7 Failed, 2.5 s",
        'Input:\n\n```json\n{\n  "a": 1\n}\n```',
        "Error:\n\n```\nno\nroute\n```",
        "`````sh\nls ````\n`````",
        "> **Error** `tool_failed`\n>\n> It \\*broke\\*.\n> Twice.",
        "> **Notice**\n>\n> Cut.",
        "> **Attachment** a\\_b.png (image/png)",
        "> **Spoken**\n>\n> Done.",
        "> \\[chart.v2\\]\n>\n> 3, 5",
        "> \\[nothing\\]",
      ].join("\n\n"),
    );
  });

  test("blocks one by one", () => {
    expect(message.blocks.map(blockSource)).toEqual([
      "secret",
      "\n**Six** tests.\n\n",
      'look`up (Failed, 2.5 s)\n\nInput:\n{\n  "a": 1\n}\n\nError:\nno\nroute',
      "ls ````\n",
      "It *broke*.\nTwice. (tool_failed)",
      "Cut.",
      "a_b.png (image/png)",
      "Done.",
      "[chart.v2] 3, 5",
      "[nothing]",
    ]);
  });

  test("neither form of a whole message has reasoning", () => {
    expect(messageMarkdown(message)).not.toContain("secret");
    expect(plainText(message)).not.toContain("secret");
  });

  test("an answer that grows is copied as it stands", () => {
    const growing = told([
      started({ id: "p", type: "prose", markdown: "One" }),
      delta("p", "markdown", " two"),
    ]);
    expect(messageMarkdown(growing)).toBe("One two");
  });

  test("nothing in a text closes its fence", () => {
    for (const text of ["```", "a ``` b\n````", "~~~", "`".repeat(40)]) {
      const [first = "", ...rest] = fenced(text, "x`y z").split("\n");
      const mark = first.slice(0, first.search(/[^`]/));
      expect(rest.at(-1)).toBe(mark);
      expect(rest.slice(0, -1).some((line) => line.startsWith(mark))).toBe(false);
    }
  });
});

describe("what a view adds to a text", () => {
  const states = story([
    started({ id: "p", type: "prose", markdown: "One" }),
    delta("p", "markdown", " two"),
    delta("p", "markdown", " three"),
    completed("p"),
  ]).flatMap((message) => message.blocks);

  test("from any state to any later one it is what came between", () => {
    for (const [at, older] of states.entries()) {
      for (const newer of states.slice(at)) {
        expect(older.textSince(0) + addedText(older, newer)).toBe(newer.textSince(0));
      }
    }
  });

  test("a text that grows is read only where it is new", () => {
    const [older, newer] = states;
    if (older === undefined || newer === undefined) throw new Error("states");
    const read = vi.spyOn(newer, "textSince");
    expect(addedText(older, newer)).toBe(" two");
    expect(read.mock.calls).toEqual([[older.length]]);
  });

  test("another text is none of it", () => {
    const [other] = finished("assistant", [
      { id: "p", type: "prose", markdown: "One and more" },
    ]).blocks;
    const [first, second] = states;
    if (other === undefined || first === undefined || second === undefined)
      throw new Error("states");
    expect(addedText(first, other)).toBe(" and more");
    expect(addedText(second, other)).toBeNull();
    expect(addedText(other, first)).toBeNull();
  });
});

describe("facts of a turn", () => {
  const error = (code: string) => [
    started({ id: "e", type: "error", code, message: "So." }),
    completed("e"),
  ];

  test.each([
    ["an answer that is written", told([]), false, false, ""],
    ["one that is complete", told([ended("completed")]), true, false, ""],
    [
      "one that failed",
      told([...error("x"), ended("failed", { error_code: "x" })]),
      true,
      false,
      "e",
    ],
    [
      "one that was interrupted",
      told([...error("turn_interrupted"), ended("failed", { error_code: "turn_interrupted" })]),
      true,
      true,
      "e",
    ],
    ["a question", finished("user", []), false, false, ""],
  ] as const)("%s", (_, message, isOver, isInterrupted, endBlockId) => {
    expect(turnFacts(message)).toMatchObject({ isOver, isInterrupted, endBlockId });
  });

  test("an old answer without its turn tells the same by its blocks", () => {
    const old = finished(
      "assistant",
      [{ id: "e", type: "error", code: "turn_interrupted", message: "So.", retryable: true }],
      { status: "failed" },
    );
    expect(turnFacts(old)).toMatchObject({ turnId: old.id, isInterrupted: true, endBlockId: "e" });
  });
});

test.each<[Json, Json, string]>([
  [0, 1234, "1.2 s"],
  [0, 0, "0.0 s"],
  [1000, 93_999, "1 min 32 s"],
  [5, 4, ""],
  [null, 4, ""],
])("from %s to %s is %s", (from, to, words) => {
  expect(duration(from, to)).toBe(words);
});

test.each([
  [950, "950 B"],
  [8_192, "8.2 kB"],
  [131_000, "131 kB"],
  [5_000_000, "5.0 MB"],
])("%s bytes are %s", (bytes, words) => {
  expect(sizeWords(bytes)).toBe(words);
});

test("times are as short as they can be, and none that no calendar has", () => {
  const noon = new Date(2025, 4, 6, 12, 5).getTime();
  const sameDay = shortTime(noon, noon + 1);
  const sameYear = shortTime(noon, noon + 86_400_000);
  const later = shortTime(noon, noon + 400 * 86_400_000);
  expect(sameYear).toContain(sameDay);
  expect(sameYear).not.toContain("2025");
  expect(later).toContain("2025");
  expect(shortTime(2 ** 53 - 1, noon)).toBe("");
  expect(isoTime(2 ** 53 - 1)).toBe("");
});

test("the name of a message says who and when", () => {
  const now = 1_740_000_000_000;
  const at = shortTime(now, now);
  expect(articleName(finished("user", [], { author: "Ada" }), true, now)).toBe(
    `Question by Ada, ${at}`,
  );
  expect(articleName(finished("user", []), true, now)).toBe(`Question by You, ${at}`);
  expect(articleName(finished("user", []), false, now)).toBe(`Question by User, ${at}`);
  expect(articleName(finished("assistant", []), true, now)).toBe(`Answer by model-1, ${at}`);
  expect(articleName(finished("system", []), true, now)).toBe(`Message by System, ${at}`);
});

test("what acts unseen has a label", () => {
  expect(shownText("a\u202eb\r\nc\td\u0007")).toBe("a<U+202E>b\nc\td\u2407");
  expect(shownLine(" a\nb\u200f ")).toBe("a b<U+200F>");
});
