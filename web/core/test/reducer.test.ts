import { describe, expect, test } from "vitest";
import {
  AppendLog,
  apply,
  type BlockState,
  type ConversationState,
  decodeEvent,
  emptyState,
  encodeJson,
  type Json,
  type JsonObject,
  messageState,
} from "../src/index.ts";
import { seeded } from "./seeded.ts";

function started(turnId: string): JsonObject {
  return { type: "turn.started", turn_id: turnId, role: "assistant", created_at: 1 };
}

function prose(turnId: string, id = "b1", markdown = ""): JsonObject {
  return { type: "content.block.started", turn_id: turnId, block: { id, type: "prose", markdown } };
}

function delta(turnId: string, text: string, id = "b1"): JsonObject {
  return { type: "content.block.delta", turn_id: turnId, block_id: id, field: "markdown", text };
}

function done(turnId: string, id = "b1"): JsonObject {
  return { type: "content.block.completed", turn_id: turnId, block_id: id };
}

function ended(turnId: string): JsonObject {
  return { type: "turn.completed", turn_id: turnId, status: "completed" };
}

function said(id: string): JsonObject {
  return {
    type: "message.created",
    message: {
      id,
      role: "user",
      status: "completed",
      content: [{ id: "b1", type: "prose", markdown: "Hi" }],
      created_at: 1,
    },
  };
}

function after(state: ConversationState, ...events: JsonObject[]): ConversationState {
  return events.reduce<ConversationState>(
    (before, event) =>
      apply(before, decodeEvent({ ...event, seq: before.seq + 1, prev_seq: before.seq, ts: 5 })),
    state,
  );
}

/** A state with so many finished messages and an open block of so many pieces. */
function grown(messages: number, pieces: number): ConversationState {
  let state: ConversationState = emptyState;
  for (let index = 0; index < messages; index += 1) state = after(state, said(`msg_${index}`));
  state = after(state, started("turn_1"), prose("turn_1"));
  for (let index = 0; index < pieces; index += 1) state = after(state, delta("turn_1", "word "));
  return state;
}

function firstBlock(state: ConversationState, id = "turn_1"): BlockState {
  const block = state.message(id)?.blocks[0];
  if (block === undefined) throw new Error("there is no block");
  return block;
}

describe("the cost of a delta", () => {
  /** What is called where something is copied or gone over; nothing else in the reducer loops. */
  function operations(action: () => unknown): Record<string, number> {
    const counts: Record<string, number> = {};
    const watched: [string, object, string][] = [
      ["array.push", Array.prototype, "push"],
      ["array.slice", Array.prototype, "slice"],
      ["array.map", Array.prototype, "map"],
      ["array.filter", Array.prototype, "filter"],
      ["array.join", Array.prototype, "join"],
      ["array.iterator", Array.prototype, Symbol.iterator as unknown as string],
      ["map.set", Map.prototype, "set"],
      ["map.get", Map.prototype, "get"],
      ["map.iterator", Map.prototype, Symbol.iterator as unknown as string],
      ["string.slice", String.prototype, "slice"],
      ["log.at", AppendLog.prototype, "at"],
      ["log.iterator", AppendLog.prototype, Symbol.iterator as unknown as string],
    ];
    const spies = watched.map(([name, owner, method]) => {
      const original = Reflect.get(owner, method) as (...args: unknown[]) => unknown;
      counts[name] = 0;
      const counted = function (this: unknown, ...args: unknown[]): unknown {
        counts[name] = (counts[name] ?? 0) + 1;
        return original.apply(this, args);
      };
      Reflect.set(owner, method, counted);
      return () => Reflect.set(owner, method, original);
    });
    try {
      action();
    } finally {
      for (const restore of spies) restore();
    }
    return counts;
  }

  function costOfOneMore(state: ConversationState): Record<string, number> {
    const event = decodeEvent({ ...delta("turn_1", "x"), seq: state.seq + 1, prev_seq: state.seq });
    return operations(() => apply(state, event));
  }

  test("does not grow with the text or with the number of messages", () => {
    const small = costOfOneMore(grown(1, 1));
    expect(costOfOneMore(grown(1, 20_000))).toEqual(small);
    expect(costOfOneMore(grown(5_000, 1))).toEqual(small);
    expect(small["array.push"]).toBe(1);
    expect(small["array.join"]).toBe(0);
    expect(small["string.slice"]).toBe(0);
  });

  test("reading what is new costs only that", () => {
    for (const pieces of [10, 20_000]) {
      const before = grown(1, pieces);
      const length = firstBlock(before).length;
      const now = after(before, delta("turn_1", "a"), delta("turn_1", "b"));
      let text = "";
      const counts = operations(() => {
        text = firstBlock(now).textSince(length);
      });
      expect(text).toBe("ab");
      expect(counts["log.at"]).toBe(2);
    }
  });

  test("finding a message costs the same among many", () => {
    const few = operations(() => grown(2, 1).at(1));
    const state = grown(5_000, 1);
    const many = operations(() => [state.at(4_999), state.message("msg_17"), state.turn("turn_1")]);
    expect(many["array.iterator"]).toBeLessThanOrEqual(few["array.iterator"] ?? 0);
    expect(many["map.iterator"]).toBe(0);
    expect(many["log.iterator"]).toBe(0);
  });
});

describe("what an event does not touch", () => {
  test("is the same object in the next state", () => {
    const before = after(
      emptyState,
      said("msg_1"),
      started("turn_1"),
      prose("turn_1", "b1", "a"),
      done("turn_1", "b1"),
      prose("turn_1", "b2"),
      started("turn_2"),
      prose("turn_2"),
    );
    const now = after(before, delta("turn_1", "x", "b2"));
    expect(now.message("msg_1")).toBe(before.message("msg_1"));
    expect(now.message("turn_2")).toBe(before.message("turn_2"));
    expect(now.turn("turn_2")).toBe(before.turn("turn_2"));
    expect(now.message("turn_1")).not.toBe(before.message("turn_1"));
    expect(now.turn("turn_1")?.block("b1")).toBe(before.turn("turn_1")?.block("b1"));
    expect(now.turn("turn_1")?.block("b2")).not.toBe(before.turn("turn_1")?.block("b2"));
    expect(now.message("turn_1")).toBe(now.message("turn_1"));
    expect(firstBlock(now, "msg_1")).toBe(firstBlock(before, "msg_1"));
  });

  test("and the whole state is, when the event was here before or has no number", () => {
    const state = after(emptyState, started("turn_1"));
    expect(apply(state, decodeEvent({ ...started("turn_2"), seq: 1 }))).toBe(state);
    expect(apply(state, decodeEvent({ type: "subscription.ready" }))).toBe(state);
  });

  test("is the same object after a snapshot that says the same", () => {
    const before = after(
      emptyState,
      said("msg_1"),
      started("turn_0"),
      ended("turn_0"),
      started("turn_1"),
      prose("turn_1", "b1", "a"),
      done("turn_1"),
      prose("turn_1", "b2", "so "),
      delta("turn_1", "far", "b2"),
    );
    const spelled = before.spelled() as JsonObject;
    const messages = spelled.messages as JsonObject[];
    const grownBlock = { id: "b2", type: "prose", markdown: "so far so good" };
    const running = messages[2] as JsonObject;
    const snapshot = {
      type: "conversation.snapshot",
      seq: 99,
      messages: [
        messages[0] as JsonObject,
        messages[1] as JsonObject,
        { ...running, content: [(running.content as Json[])[0] as Json, grownBlock] },
      ],
      turns: spelled.turns as Json,
      open_block_ids: ["b2"],
    };
    const now = apply(before, decodeEvent(snapshot));
    expect(now.seq).toBe(99);
    expect(now.message("msg_1")).toBe(before.message("msg_1"));
    expect(now.message("turn_0")).toBe(before.message("turn_0"));
    expect(now.turn("turn_1")?.block("b1")).toBe(before.turn("turn_1")?.block("b1"));
    const old = before.turn("turn_1")?.block("b2") as BlockState;
    const block = now.turn("turn_1")?.block("b2") as BlockState;
    expect(block.continues(old)).toBe(true);
    expect(block.textSince(old.length)).toBe(" so good");
    expect(encodeJson(now.turn("turn_1")?.message as Json)).toContain("so far so good");
    // Again the same: then the turn is the same object, too.
    expect(apply(now, decodeEvent({ ...snapshot, seq: 100 })).turn("turn_1")).toBe(
      now.turn("turn_1"),
    );
  });

  test("is another block when a snapshot tells another text", () => {
    const before = after(emptyState, started("turn_1"), prose("turn_1", "b1", "abc"));
    const now = apply(
      before,
      decodeEvent({
        type: "conversation.snapshot",
        messages: [
          {
            id: "turn_1",
            role: "assistant",
            status: "streaming",
            content: [{ id: "b1", type: "prose", markdown: "xyz and more" }],
            created_at: 1,
          },
        ],
        turns: [],
        open_block_ids: ["b1"],
      }),
    );
    expect(firstBlock(now).continues(firstBlock(before))).toBe(false);
    expect(firstBlock(now).textSince(0)).toBe("xyz and more");
  });
});

test("a snapshot brings the cursor for older messages, and another one takes it away", () => {
  const snapshot = { type: "conversation.snapshot", messages: [], turns: [], open_block_ids: [] };
  const state = apply(
    emptyState,
    decodeEvent({ ...snapshot, more_before: "cursor_1", conversation_id: "conv_1", seq: 9 }),
  );
  expect([state.moreBefore, state.conversationId, state.seq]).toEqual(["cursor_1", "conv_1", 9]);
  expect(after(state, said("msg_1")).moreBefore).toBe("cursor_1");
  const older = apply(state, decodeEvent({ ...snapshot, seq: 3, reset: true }));
  expect([older.moreBefore, older.conversationId, older.seq]).toEqual([null, "", 3]);
});

describe("an older state", () => {
  test("never changes, whatever grows from it and however often", () => {
    const base = after(emptyState, said("msg_1"), started("turn_1"), prose("turn_1", "b1", "a"));
    const spelling = encodeJson(base.spelled());
    const one = after(base, delta("turn_1", "1"), prose("turn_1", "b2"), said("msg_2"));
    const two = after(base, delta("turn_1", "2"), prose("turn_1", "b3"), said("msg_3"));
    const three = after(base, said("msg_3"), said("msg_2"));
    expect(encodeJson(base.spelled())).toBe(spelling);
    expect([one, two].map((state) => firstBlock(state).textSince(0))).toEqual(["a1", "a2"]);
    expect([...one.order]).toEqual(["msg_1", "turn_1", "msg_2"]);
    expect([...two.order]).toEqual(["msg_1", "turn_1", "msg_3"]);
    expect([...three.order]).toEqual(["msg_1", "turn_1", "msg_3", "msg_2"]);
    expect(one.message("msg_3")).toBe(undefined);
    expect(three.message("msg_2")?.id).toBe("msg_2");
    expect(two.turn("turn_1")?.block("b2")).toBe(undefined);
    expect(after(two, prose("turn_1", "b2")).turn("turn_1")?.position("b2")).toBe(2);
    expect(one.turn("turn_1")?.position("b2")).toBe(1);
    expect(firstBlock(two).continues(firstBlock(one))).toBe(false);
    expect(firstBlock(one).continues(firstBlock(base))).toBe(true);
    expect(firstBlock(base).continues(firstBlock(one))).toBe(false);
  });

  test("stays as it was while random branches grow", () => {
    for (const random of [1, 2, 3, 4, 5].map(seeded)) {
      const kept: [ConversationState, string][] = [
        [grown(2, 2), encodeJson(grown(2, 2).spelled())],
      ];
      for (let step = 0; step < 60; step += 1) {
        const [state] = kept[random(kept.length)] as [ConversationState, string];
        const next = after(
          state,
          [said(`msg_r${step}`), delta("turn_1", `${step}`), prose("turn_1", `b_${step}`)][
            random(3)
          ] as JsonObject,
        );
        kept.push([next, encodeJson(next.spelled())]);
      }
      for (const [state, spelling] of kept) expect(encodeJson(state.spelled())).toBe(spelling);
    }
  });

  test("does not show what was refused", () => {
    const state = after(emptyState, started("turn_1"), prose("turn_1"));
    const spelling = encodeJson(state.spelled());
    for (const event of [prose("turn_1"), ended("turn_1"), started("turn_1"), delta("no", "x")]) {
      expect(() => after(state, event)).toThrow();
    }
    expect(encodeJson(state.spelled())).toBe(spelling);
  });
});

describe("a growing text", () => {
  test("is what its pieces say from anywhere, open or complete", () => {
    const random = seeded(7);
    let state = after(emptyState, started("turn_1"), prose("turn_1", "b1", "Six"));
    let text = "Six";
    for (let step = 0; step < 200; step += 1) {
      const piece = ["", "a", "😀", "e\u0301", "\u0000", "tests ", "\r\n"][random(7)] as string;
      state = after(state, delta("turn_1", piece));
      text += piece;
      const offset = random(text.length + 3) - 1;
      expect(firstBlock(state).textSince(offset)).toBe(text.slice(Math.max(offset, 0)));
    }
    expect(firstBlock(state).length).toBe(text.length);
    const open = firstBlock(state);
    expect(open.block.markdown).toBe(text);
    expect(open.block).toBe(open.block);
    const complete = firstBlock(after(state, done("turn_1")));
    expect(complete.isOpen).toBe(false);
    expect(complete.continues(open)).toBe(true);
    expect(complete.textSince(3)).toBe(text.slice(3));
  });

  test("does not depend on how it was cut", () => {
    const whole = after(emptyState, started("turn_1"), prose("turn_1"), delta("turn_1", "a😀b"));
    const cut = ["a", "", "😀", "b"].reduce(
      (state, piece) => after(state, delta("turn_1", piece)),
      after(emptyState, started("turn_1"), prose("turn_1")),
    );
    expect(encodeJson(cut.message("turn_1")?.message as Json)).toBe(
      encodeJson(whole.message("turn_1")?.message as Json),
    );
  });
});

describe("what a view reads", () => {
  test("of a turn that runs, waits and ends", () => {
    let state = after(emptyState, { ...started("turn_1"), model: "m-1", author: "Ada" });
    expect(state.running.size).toBe(1);
    state = after(state, prose("turn_1"), {
      type: "turn.suspended",
      turn_id: "turn_1",
      request: { id: "req_1", kind: "approval", prompt: "May I?" },
    });
    const waiting = state.message("turn_1");
    expect(waiting?.status).toBe("suspended");
    expect(waiting?.turn?.request?.prompt).toBe("May I?");
    expect(waiting?.turn?.openBlockIds).toEqual(["b1"]);
    expect(waiting?.model).toBe("m-1");
    expect(waiting?.author).toBe("Ada");
    expect(waiting?.completedAt).toBe(undefined);
    state = after(state, { type: "turn.resumed", turn_id: "turn_1" }, done("turn_1"), {
      type: "turn.failed",
      turn_id: "turn_1",
      status: "failed",
      reason: "interrupted",
      error_code: "turn_interrupted",
      finish_reason: "stop",
    });
    const over = state.message("turn_1");
    expect(over?.status).toBe("failed");
    expect(over?.turn?.turnStatus).toBe("interrupted");
    expect(over?.turn?.errorCode).toBe("turn_interrupted");
    expect(over?.turn?.finishReason).toBe("stop");
    expect(over?.turn?.isTerminal).toBe(true);
    expect(over?.completedAt).toBe(5);
    expect(state.running.size).toBe(0);
    expect(state.at(0)).toBe(over);
    expect(state.count).toBe(1);
    expect(() => state.at(1)).toThrow(RangeError);
  });

  test("of a message of a page", () => {
    const message = messageState({
      id: "msg_1",
      role: "user",
      status: "completed",
      content: [{ id: "b1", type: "prose", markdown: "Hi" }],
      created_at: 3,
      completed_at: 4,
      provider: "acme",
      turn_id: "turn_9",
    });
    expect(message.blocks[0]?.textSince(1)).toBe("i");
    expect(message.blocks).toBe(message.blocks);
    expect([message.createdAt, message.completedAt, message.provider, message.turnId]).toEqual([
      3,
      4,
      "acme",
      "turn_9",
    ]);
    expect(message.turn).toBe(undefined);
    expect(() => messageState({ id: "msg_1" })).toThrow("missing_member");
    expect(() => messageState({ id: "msg_1", aB: 1 })).toThrow("invalid_key");
  });
});
