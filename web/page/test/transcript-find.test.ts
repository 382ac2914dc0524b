import { apply, decodeEvent, emptyState, type Json, messageState } from "@blockwire/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { countText } from "../src/transcript/FindBar.ts";
import { FindController } from "../src/transcript/find.ts";
import type { FindTarget } from "../src/transcript/findview.ts";
import { type PagePlace, Pages } from "../src/transcript/pages.ts";

/** Every tenth message has the word twice, in two blocks; the live part begins at 460 of 500. */
const COUNT = 500;
const LIVE = 460;

function message(at: number): Json {
  const has = at % 10 === 3;
  return {
    id: `m_${at}`,
    role: "user",
    status: "completed",
    content: [
      { id: "b1", type: "prose", markdown: has ? "A Nee**dle** here" : "hay" },
      { id: "b2", type: "code", text: has ? "needle()" : "hay()" },
    ],
    created_at: 1_740_000_000_000 + at,
  } as unknown as Json;
}

class Target implements FindTarget {
  shown: string[] = [];
  at: string | null = null;
  mountedBlocks() {
    return [];
  }
  async bring(messageId: string) {
    this.shown.push(messageId);
    return true;
  }
  async scrollTo() {
    return true;
  }
  revealElement() {}
  place() {
    return this.at === null ? null : { messageId: this.at };
  }
}

function begin() {
  let fails = 0;
  let asked = 0;
  const source = {
    async messages(_id: string, options: PagePlace & { limit: number }) {
      asked += 1;
      if (fails > 0) {
        fails -= 1;
        throw new Error("unreachable");
      }
      const { limit } = options;
      const end = "before" in options ? Number(options.before) : 0;
      const first = Math.max(0, end - limit);
      const items = Array.from({ length: end - first }, (_, at) =>
        messageState(message(first + at)),
      );
      return {
        items,
        next_cursor: first > 0 ? String(first) : null,
        previous_cursor: String(end - 1),
      };
    },
  };
  const pages = new Pages(source, "conv_1");
  pages.reset(String(LIVE));
  let state = apply(
    emptyState,
    decodeEvent({
      type: "conversation.snapshot",
      conversation_id: "conv_1",
      seq: 1,
      ts: 1,
      messages: Array.from({ length: COUNT - LIVE }, (_, at) => message(LIVE + at)),
      turns: [],
      open_block_ids: [],
      more_before: String(LIVE),
    } as unknown as Json),
  );
  const target = new Target();
  const find = new FindController({ pages, state: () => state, target });
  return {
    find,
    target,
    asked: () => asked,
    fail: () => {
      fails = 1;
    },
    push(event: Record<string, unknown>) {
      const seq = state.seq + 1;
      const numbers = { conversation_id: "conv_1", seq, prev_seq: seq - 1, ts: 1 };
      state = apply(state, decodeEvent({ ...numbers, ...event } as unknown as Json));
      find.changed();
    },
  };
}

describe("finding in a conversation", () => {
  beforeEach(() => {
    vi.stubGlobal("requestAnimationFrame", () => 1);
    vi.stubGlobal("cancelAnimationFrame", () => undefined);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("counts everything, though nothing of it is loaded", async () => {
    const { find, target } = begin();
    await find.search("nEEdle");
    expect(find.status).toMatchObject({ count: 100, at: 100, isSearching: false, searched: COUNT });
    expect(target.shown).toEqual(["m_493"]);
    expect(countText(find.status)).toBe("100 of 100");
  });

  it("goes through all matches in their order, both ways, and around", async () => {
    const { find, target } = begin();
    await find.search("needle");
    target.shown = [];
    for (let step = 0; step < 100; step += 1) {
      await find.next();
      expect(find.status.at).toBe(step + 1);
    }
    const messages = Array.from({ length: 50 }, (_, at) => `m_${at * 10 + 3}`);
    expect(target.shown).toEqual(messages.flatMap((id) => [id, id]));
    await find.next();
    expect(find.status.at).toBe(1);
    await find.previous();
    expect(find.status.at).toBe(100);
  });

  it("begins at the reader's message, also in older pages", async () => {
    for (const [at, first] of [
      ["m_470", "m_473"],
      ["m_213", "m_213"],
      ["m_214", "m_223"],
      ["m_499", "m_493"],
    ] as const) {
      const { find, target } = begin();
      target.at = at;
      await find.search("needle");
      expect(target.shown).toEqual([first]);
    }
  });

  it("says that there is nothing", async () => {
    const { find } = begin();
    await find.search("nowhere");
    expect(countText(find.status)).toBe("No matches");
    await find.next();
    expect(find.status.at).toBe(0);
  });

  it("stops when somebody looks for something else or closes it", async () => {
    const { find, asked } = begin();
    const first = find.search("needle");
    const second = find.search("hay");
    await Promise.all([first, second]);
    expect(find.status.count).toBe(900);
    const before = asked();
    const third = find.search("needle");
    find.close();
    await third;
    expect(asked() - before).toBeLessThan(2);
    expect(countText(find.status)).toBe("");
  });

  it("says what could not be searched, and tries again when asked again", async () => {
    const { find, fail } = begin();
    fail();
    await find.search("needle");
    expect(countText(find.status)).toBe("8 of 8. Not everything could be searched.");
    await find.search("needle");
    expect(find.status).toMatchObject({ count: 100, isFailed: false });
  });

  it("finds in an answer while it grows, and keeps the current match", async () => {
    const { find, push } = begin();
    await find.search("needle");
    vi.useFakeTimers();
    push({ type: "turn.started", turn_id: "t", role: "assistant", created_at: 1 });
    push({
      type: "content.block.started",
      turn_id: "t",
      block: { id: "b", type: "prose", markdown: "A nee" },
    });
    await vi.runAllTimersAsync();
    expect(find.status).toMatchObject({ at: 100, count: 100 });
    push({
      type: "content.block.delta",
      turn_id: "t",
      block_id: "b",
      field: "markdown",
      text: "dle",
    });
    await vi.runAllTimersAsync();
    expect(find.status).toMatchObject({ at: 100, count: 101 });
  });
});
