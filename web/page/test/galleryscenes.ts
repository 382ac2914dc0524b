/** Messages that show every type of block in every state, and what people are not ready for. */
import {
  apply,
  decodeEvent,
  decodeJson,
  emptyState,
  type MessageState,
  messageState,
} from "@blockwire/core";

type Plain =
  | null
  | boolean
  | number
  | string
  | readonly Plain[]
  | { readonly [name: string]: Plain };

const AT = 1_740_000_000_000;

let messageCount = 0;

/** A message that is over, made as the gateway gives it. */
export function finished(
  role: string,
  content: readonly Plain[],
  members: { readonly [name: string]: Plain } = {},
): MessageState {
  messageCount += 1;
  const whole = {
    id: `turn_${messageCount}`,
    role,
    status: "completed",
    content,
    created_at: AT,
    ...(role === "assistant" ? { model: "model-1" } : {}),
    ...members,
  };
  return messageState(decodeJson(JSON.stringify(whole)));
}

/** The answer of a turn after these events, which get what every event has. */
export function told(events: readonly { readonly [name: string]: Plain }[]): MessageState {
  const states = story(events);
  const last = states.at(-1);
  if (last === undefined) throw new Error("a story has events");
  return last;
}

/** The states of one answer, one after each event. */
export function story(events: readonly { readonly [name: string]: Plain }[]): MessageState[] {
  messageCount += 1;
  const id = `turn_${messageCount}`;
  let state = emptyState;
  let seq = 0;
  const states: MessageState[] = [];
  const begin = { type: "turn.started", role: "assistant", created_at: AT, model: "model-1" };
  for (const event of [begin, ...events]) {
    const stamped = {
      ...event,
      turn_id: id,
      conversation_id: "conv_1",
      seq: seq + 1,
      prev_seq: seq,
      ts: AT,
    };
    seq += 1;
    state = apply(state, decodeEvent(decodeJson(JSON.stringify(stamped))));
    const message = state.message(id);
    if (message !== undefined) states.push(message);
  }
  return states;
}

/** The events that begin a block. */
export const started = (block: { readonly [name: string]: Plain }) => ({
  type: "content.block.started",
  block,
});
export const delta = (block_id: string, field: string, text: string) => ({
  type: "content.block.delta",
  block_id,
  field,
  text,
});
export const completed = (block_id: string) => ({ type: "content.block.completed", block_id });
export const ended = (status: string, members: { readonly [name: string]: Plain } = {}) => ({
  type: `turn.${status}`,
  status,
  ...members,
});

const tool = (id: string, status: string, members: { readonly [name: string]: Plain } = {}) => ({
  id,
  type: "tool",
  tool: "run_tests",
  status,
  input: { paths: ["tests/unit", "tests/page"], verbose: true },
  started_at: AT,
  ...members,
});

const LONG_NAME = `${"a_very_long_name_of_something_".repeat(10)}`.slice(0, 256);
const LONG_WORD = "Donaudampfschifffahrtsgesellschaft".repeat(12);

/** Titles and the messages below them. */
export function scenes(): readonly (readonly [string, readonly MessageState[]])[] {
  return [
    [
      "An ordinary exchange",
      [
        finished(
          "user",
          [{ id: "q1", type: "prose", markdown: "Do the tests pass? And what is in the log?" }],
          {
            author: "Ada",
          },
        ),
        finished("assistant", [
          {
            id: "r1",
            type: "reasoning",
            text: "Count first.\nThen look at the log.",
            visibility: "private",
          },
          tool("t1", "completed", { output: { passed: 6, id: 12345 }, completed_at: AT + 1234 }),
          {
            id: "p1",
            type: "prose",
            markdown:
              "**Six** tests pass, and the log has nothing that matters. Here is what ran, in the order in which it ran:\n\n- `tests/unit`, all of it\n- `tests/page`, without pictures",
          },
          {
            id: "c1",
            type: "code",
            language: "python",
            text: 'def main() -> None:\n    print("hello", 42)  # done\n',
          },
          { id: "p2", type: "prose", markdown: "Nothing else is to be done." },
        ]),
        finished("user", [
          { id: "q2", type: "prose", markdown: "Look at these." },
          {
            id: "a1",
            type: "attachment",
            attachment_id: "att_ok",
            name: "sunset.png",
            media_type: "image/png",
          },
          {
            id: "a2",
            type: "attachment",
            attachment_id: "att_pdf",
            name: "report.pdf",
            media_type: "application/pdf",
          },
        ]),
      ],
    ],
    [
      "Tools in every state",
      [
        finished("assistant", [
          tool("s1", "pending", { input: {} }),
          tool("s3", "completed", {
            tool: "search",
            input: { query: "weather in Turin" },
            output: "Sunny.\nWind: 3",
            completed_at: AT + 400,
          }),
          tool("s4", "failed", {
            error: "ConnectionError: no route to host\n  at line 3\n  at line 4\n  at line 5",
            completed_at: AT + 92_000,
          }),
          tool("s5", "cancelled"),
          tool("s6", "completed", { tool: LONG_NAME, input: "x".repeat(5000), output: null }),
          tool("s7", "completed", {
            tool: "make_chart",
            input: { kind: "bar" },
            attachments: ["att_1", "att_2"],
            output: [],
          }),
        ]),
        told([
          started({
            id: "l1",
            type: "tool",
            tool: "run_tests",
            status: "pending",
            input: { paths: ["tests"] },
          }),
          {
            type: "content.block.updated",
            block_id: "l1",
            set: { status: "running", started_at: AT },
          },
        ]),
      ],
    ],
    [
      "How answers end",
      [
        told([
          started({ id: "e1", type: "prose", markdown: "The first step is to" }),
          completed("e1"),
          started({
            id: "e2",
            type: "error",
            code: "provider_overloaded",
            message: "The provider is overloaded.",
            retryable: true,
          }),
          completed("e2"),
          ended("failed", { error_code: "provider_overloaded" }),
        ]),
        told([
          started({ id: "e1", type: "prose", markdown: "The first step is to" }),
          completed("e1"),
          started({
            id: "e2",
            type: "error",
            code: "turn_interrupted",
            message: "The gateway ended while the turn ran.",
            retryable: true,
          }),
          completed("e2"),
          ended("failed", { error_code: "turn_interrupted", reason: "interrupted" }),
        ]),
        told([
          started({ id: "e1", type: "prose", markdown: "The first step is to" }),
          completed("e1"),
          started({
            id: "e2",
            type: "notice",
            code: "turn_cancelled",
            message: "Stopped by user.",
          }),
          completed("e2"),
          ended("cancelled"),
        ]),
        finished(
          "assistant",
          [{ id: "x1", type: "prose", markdown: "Imported, and ended badly without a word." }],
          {
            status: "failed",
          },
        ),
        finished("assistant", [
          { id: "x1", type: "prose", markdown: "An answer that was cut at the" },
          {
            id: "x2",
            type: "notice",
            code: "answer_truncated",
            message: "The answer was cut at the token limit.",
          },
        ]),
      ],
    ],
    [
      "Waiting for a person",
      [
        told([
          started(
            tool("w1", "pending", {
              tool: "delete_files",
              input: { paths: ["a.txt", "b.txt", "c.txt"] },
            }),
          ),
          {
            type: "turn.suspended",
            request: {
              id: "req_1",
              kind: "approval",
              prompt: "Delete 3 files?\na.txt, b.txt, c.txt",
              block_id: "w1",
            },
          },
        ]),
        told([
          {
            type: "turn.suspended",
            request: {
              id: "req_2",
              kind: "question",
              prompt: "Which branch?",
              options: ["main", "release/1.2", { name: "other", n: 3 }],
            },
          },
        ]),
        told([
          {
            type: "turn.suspended",
            request: {
              id: "req_3",
              kind: "question",
              prompt: "What is the password of the staging host?",
            },
          },
        ]),
      ],
    ],
    [
      "Beginning",
      [
        told([]),
        told([started({ id: "b1", type: "reasoning", text: "Let me see" })]),
        told([
          started({ id: "b2", type: "prose", markdown: "A **gro" }),
          delta("b2", "markdown", "wing** answer, whose end is"),
        ]),
      ],
    ],
    [
      "Everything else",
      [
        finished("system", [
          { id: "y1", type: "prose", markdown: "You are a careful assistant.\n\nAnswer briefly." },
        ]),
        finished("developer", [{ id: "y2", type: "prose", markdown: "Use tools." }]),
        finished("tool", [tool("y3", "completed", { tool: "client_tool", output: { ok: true } })]),
        finished("assistant", [
          { id: "z1", type: "speech", text: "Six tests pass." },
          {
            id: "z2",
            type: "chart.v2",
            fallback_text: "A chart of sales: 3, 5, 8.\nIt rises.",
            data: [3, 5, 8],
          },
          { id: "z3", type: "nothing_to_say" },
          { id: "z4", type: "reasoning", text: "Visible to everybody.", visibility: "visible" },
          { id: "z5", type: "notice", code: "history_cut", message: "Older turns were left out." },
          {
            id: "a3",
            type: "attachment",
            attachment_id: "att_gone",
            name: "gone.webp",
            media_type: "image/webp",
          },
          {
            id: "a4",
            type: "attachment",
            attachment_id: "att_x",
            name: LONG_NAME,
            media_type: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
          },
        ]),
        finished(
          "assistant",
          [
            { id: "h1", type: "prose", markdown: `A very long word: ${LONG_WORD}` },
            tool("h2", "failed", {
              error: LONG_WORD,
              input: { [LONG_NAME.slice(0, 60)]: LONG_WORD },
            }),
          ],
          {
            author: LONG_NAME,
            model: LONG_NAME,
          },
        ),
        finished(
          "user",
          [{ id: "i1", type: "prose", markdown: "مرحبا، هل تعمل الاختبارات؟ run_tests" }],
          { author: "ليلى" },
        ),
        finished("assistant", [
          { id: "i2", type: "prose", markdown: "نعم، **ستة** اختبارات تعمل بشكل جيد." },
          tool("i3", "completed", {
            tool: "بحث",
            input: "الطقس اليوم",
            output: "مشمس",
            completed_at: AT + 900,
          }),
          { id: "i4", type: "error", code: "tool_failed", message: "حدث خطأ ما." },
        ]),
      ],
    ],
  ];
}

/** A tool whose output is `megabytes` large. */
export function largeTool(megabytes: number): MessageState {
  const rows = Array.from({ length: megabytes * 10_000 }, (_, index) => ({
    index,
    text: "sixty characters of a row of a table that a tool has read..",
  }));
  return finished("assistant", [
    tool("big", "completed", { output: rows, completed_at: AT + 5_000 }),
  ]);
}

/** A tool whose input is this JSON, to the digit. */
export function exact(input: string): MessageState {
  const block = `{"id":"t","type":"tool","tool":"look","status":"completed","input":${input},"output":"one\\r\\n  two"}`;
  return messageState(
    decodeJson(
      `{"id":"m","role":"assistant","status":"completed","created_at":1,"content":[${block}]}`,
    ),
  );
}

/** What a view is made of. */
export type Shown = MessageState;
