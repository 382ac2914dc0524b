import { describe, expect, test } from "vitest";
import {
  apply,
  type ConversationState,
  checkKeys,
  decodeEvent,
  decodeJson,
  emptyState,
  encodeJson,
  equalJson,
  type Json,
  type JsonObject,
  type Message,
  messageState,
  ProtocolError,
  plainText,
} from "../src/index.ts";
import { vectorNames, vectors } from "./files.ts";

function fold(events: Json, state: ConversationState = emptyState): ConversationState {
  return (events as Json[]).reduce<ConversationState>(
    (before, event) => apply(before, decodeEvent(event)),
    state,
  );
}

function refusal(action: () => unknown): ProtocolError {
  try {
    action();
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

/** The text of both, so that a difference can be seen. */
function expectSame(found: Json | undefined, expected: Json | undefined): void {
  expect(encodeJson(found ?? null)).toBe(encodeJson(expected ?? null));
  expect(equalJson(found ?? null, expected ?? null)).toBe(true);
}

test("each file of vectors is read here, or is not for a receiver", () => {
  const read = [
    "reducer",
    "refusals",
    "malformed",
    "keys",
    "merging",
    "visibility",
    "endings",
    "text",
  ];
  const notOurs = ["conversion"];
  expect(vectorNames().sort()).toEqual([...read, ...notOurs].sort());
});

describe("reducer", () => {
  test.each(vectors("reducer").map((record) => [record.name as string, record]))(
    "%s",
    (_, record) => {
      expectSame(fold(record.events as Json).spelled(), record.state);
    },
  );
});

describe("refusals", () => {
  test.each(vectors("refusals").map((record) => [record.code as string, record]))(
    "%s",
    (code, record) => {
      const state = fold(record.events as Json);
      const before = encodeJson(state.spelled());
      const event = decodeEvent(record.then as Json);
      expect(refusal(() => apply(state, event)).code).toBe(code);
      expect(encodeJson(state.spelled())).toBe(before);
    },
  );
});

describe("malformed events", () => {
  test.each(vectors("malformed").map((record) => [`${record.code} at ${record.pointer}`, record]))(
    "%s",
    (_, record) => {
      const error = refusal(() => decodeEvent(record.value as Json));
      expect([error.code, error.pointer]).toEqual([record.code, record.pointer]);
    },
  );
});

describe("keys", () => {
  test.each(vectors("keys", "refused").map((record) => [record.pointer as string, record]))(
    "refused at %s",
    (pointer, record) => {
      const error = refusal(() => checkKeys(record.value as Json));
      expect([error.code, error.pointer]).toEqual([record.code, pointer]);
    },
  );

  test.each(vectors("keys", "value").map((record) => [encodeJson(record.value as Json), record]))(
    "%s",
    (_, record) => {
      checkKeys(record.converted as Json);
      if (record.changed) {
        expect(refusal(() => checkKeys(record.value as Json)).code).toBe("invalid_key");
      } else {
        checkKeys(record.value as Json);
      }
    },
  );
});

test("the first bad key is told in the order of the text, whatever JavaScript makes of it", () => {
  const value = decodeJson('{"b":[{"c":{"D":1}}],"1":{"E":2},"0":3}');
  expect(refusal(() => checkKeys(value)).pointer).toBe("/b/0/c/D");
  expect(refusal(() => checkKeys(decodeJson('{"b":1,"1":2,"0":3}'))).pointer).toBe("/1");
});

describe("merging", () => {
  test.each(
    vectors("merging", "merge").map((record) => [`${record.name}, ${record.view}`, record]),
  )("the merged log folds to the same: %s", (_, record) => {
    const merged = (record.merged as JsonObject[]).map((entry) => entry.event as Json);
    expectSame(fold(merged).spelled(), fold(record.events as Json).spelled());
  });

  test.each(vectors("merging", "cut").map((record) => [record.cursor as number, record]))(
    "a cut delta ends what the whole one says, cursor %i",
    (cursor, record) => {
      const whole = record.event as JsonObject;
      const sent = record.sent as JsonObject | null;
      // The beginning of the text is what a reader with this cursor has already.
      const lacking = sent === null ? "" : (sent.text as string);
      const text = whole.text as string;
      expect(text.endsWith(lacking)).toBe(true);
      const opened = fold([
        {
          type: "turn.started",
          turn_id: whole.turn_id as Json,
          role: "assistant",
          created_at: 0,
          seq: 1,
        },
        {
          type: "content.block.started",
          turn_id: whole.turn_id as Json,
          block: {
            id: whole.block_id as Json,
            type: "prose",
            markdown: text.slice(0, text.length - lacking.length),
          },
          seq: 2,
          prev_seq: 1,
        },
        // A reader that is further behind is sent what comes before the delta first.
      ]).withNumbers(Math.max(cursor, whole.prev_seq as number), "");
      const after = sent === null ? opened : fold([sent], opened);
      const block = after.turn(whole.turn_id as string)?.block(whole.block_id as string);
      expect(block?.textSince(0)).toBe(text);
      expect(after.seq).toBe(Math.max(cursor, 9));
    },
  );
});

describe("visibility", () => {
  const events = vectors("visibility").filter((record) => record.owner_events !== undefined);
  test.each(events.map((record) => [record.name as string, record]))(
    "a public reader: %s",
    (_, record) => {
      expectSame(fold(record.public_events as Json).spelled(), record.public_state);
    },
  );
});

describe("endings", () => {
  test.each(
    vectors("endings").map((record) => [`${record.status} ${record.finish_reason}`, record]),
  )("%s", (_, record) => {
    const before = fold(record.events as Json);
    const rest = (record.then as JsonObject[]).map((event, index) => ({
      ...event,
      seq: before.seq + index + 1,
      prev_seq: before.seq + index,
    }));
    const after = fold(rest, before);
    expectSame(after.message("turn_1")?.message, record.message);
    expect(after.running.size).toBe(0);
  });
});

describe("plain text", () => {
  test.each(vectors("text").map((record) => [record.name as string, record]))("%s", (_, record) => {
    const message = messageState(record.message as Json);
    expect(plainText(message)).toBe(record.text);
    expect(plainText(message, { withReasoning: true })).toBe(record.with_reasoning);
    expect(message.blocks.map((block) => plainText(block))).toEqual(record.blocks);
    // The JSON says the same as what was made of it.
    expect(plainText(record.message as Message)).toBe(record.text);
    expect(message.message.content.map((block) => plainText(block))).toEqual(record.blocks);
  });
});
