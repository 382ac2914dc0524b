import { apply, decodeEvent, emptyState, type Json, messageState } from "@blockwire/core";
import { describe, expect, it } from "vitest";
import {
  KEPT_MESSAGES_MAX,
  KEPT_PAGES_MAX,
  PAGE_MESSAGES,
  Pages,
} from "../src/transcript/pages.ts";
import { RowList } from "../src/transcript/rowlist.ts";

function message(at: number): Json {
  return {
    id: `m_${at}`,
    role: "user",
    status: "completed",
    content: [{ id: "b1", type: "prose", markdown: `Message ${at}` }],
    created_at: 1_740_000_000_000 + at,
  } as unknown as Json;
}

/** A gateway with messages 0 to `count`-1, whose cursor is the number of the first one. */
class Source {
  asked: string[] = [];
  fails = 0;
  async messages(_id: string, options: { before: string; limit: number; max_bytes: number }) {
    this.asked.push(options.before);
    if (this.fails > 0) {
      this.fails -= 1;
      throw new Error("unreachable");
    }
    const end = Number(options.before);
    const begin = Math.max(0, end - options.limit);
    const items = Array.from({ length: end - begin }, (_, at) => messageState(message(begin + at)));
    return { items, next_cursor: begin > 0 ? String(begin) : null };
  }
}

function snapshot(begin: number, end: number, seq: number) {
  const messages = Array.from({ length: end - begin }, (_, at) => message(begin + at));
  return decodeEvent({
    type: "conversation.snapshot",
    conversation_id: "conv_1",
    seq,
    ts: 1_740_000_000_000,
    messages,
    turns: [],
    open_block_ids: [],
    ...(begin > 0 ? { more_before: String(begin) } : {}),
  } as unknown as Json);
}

function created(at: number, seq: number) {
  return decodeEvent({
    type: "message.created",
    message: message(at),
    conversation_id: "conv_1",
    seq,
    prev_seq: seq - 1,
    ts: 1_740_000_000_000,
  } as unknown as Json);
}

function numbers(list: RowList): number[] {
  return list.all().map(({ id }) => Number(id.slice(2)));
}

function range(begin: number, end: number): number[] {
  return Array.from({ length: end - begin }, (_, at) => begin + at);
}

function begin(count: number) {
  const source = new Source();
  const pages = new Pages(source, "conv_1");
  const state = apply(emptyState, snapshot(count - 20, count, 100));
  return { source, pages, state, list: new RowList(pages, state) };
}

describe("pages of older messages", () => {
  it("join to the whole, from the end to the beginning", async () => {
    const { pages, list } = begin(333);
    while (pages.hasOlder) expect(await pages.load("older")).toBe(true);
    expect(numbers(list)).toEqual(range(0, 333));
    expect(await pages.load("older")).toBe(false);
  });

  it("are dropped at both ends beyond the bounds, and come again", async () => {
    const { pages, list } = begin(2000);
    let isDropped = false;
    for (let step = 0; step < 30; step += 1) {
      await pages.load("older");
      while (pages.isOver) {
        pages.drop("newer");
        isDropped = true;
      }
      expect(pages.messageCount).toBeLessThanOrEqual(KEPT_MESSAGES_MAX);
      expect(pages.loaded.length).toBeLessThanOrEqual(KEPT_PAGES_MAX);
      const rows = numbers(list);
      expect(rows).toEqual(range(rows[0] ?? 0, (rows[0] ?? 0) + rows.length));
    }
    expect(isDropped).toBe(true);
    expect(pages.isJoined).toBe(false);
    while (!pages.isJoined) {
      expect(await pages.load("newer")).toBe(true);
      while (pages.isOver) pages.drop("older");
      const rows = numbers(list);
      expect(rows).toEqual(range(rows[0] ?? 0, (rows[0] ?? 0) + rows.length));
    }
    expect(numbers(list).at(-1)).toBe(1999);
  });

  it("keep what they had when one could not be read", async () => {
    const { source, pages, list } = begin(200);
    source.fails = 1;
    await expect(pages.load("older")).rejects.toThrow("unreachable");
    expect(numbers(list)).toEqual(range(180, 200));
    await pages.load("older");
    expect(numbers(list)).toEqual(range(180 - PAGE_MESSAGES, 200));
  });

  it("take no answer that was asked for before the chain changed", async () => {
    const { pages } = begin(200);
    const late = pages.load("older");
    pages.reset("100");
    expect(await late).toBe(false);
    expect(pages.loaded).toEqual([]);
  });

  it("are found far away, and lead back to the live state", async () => {
    const { pages, list } = begin(1000);
    for (let index = 0; index < 12; index += 1) await pages.read(index);
    const far = await pages.read(11);
    expect(far).not.toBeNull();
    if (far === null) return;
    pages.moveTo(far);
    expect(numbers(list)).toEqual(range(380, 430));
    while (!pages.isJoined) await pages.load("newer");
    expect(numbers(list)).toEqual(range(380, 1000));
  });
});

describe("the list of messages", () => {
  it("knows what was appended without looking at the rest", () => {
    const { list, state } = begin(100);
    const next = apply(state, created(100, 101));
    const change = list.take(next);
    expect(change.kind).toBe("appended");
    if (change.kind === "appended") expect(change.rows.map(({ id }) => id)).toEqual(["m_100"]);
    expect(list.take(next).kind).toBe("same");
  });

  it("keeps what a later snapshot does not hold any more", async () => {
    const { pages, list } = begin(300);
    await pages.load("older");
    const change = list.take(apply(list.state, snapshot(290, 310, 500)));
    expect(change.kind).toBe("rearranged");
    expect(numbers(list)).toEqual(range(230, 310));
    await pages.load("older");
    expect(numbers(list)).toEqual(range(180, 310));
    // The page that was kept in place of one is read again as the gateway cuts it.
    while (pages.loaded.length > 1) pages.drop("newer");
    while (!pages.isJoined) await pages.load("newer");
    const rows = numbers(list);
    expect(rows).toEqual(range(rows[0] ?? 0, 310));
  });

  it("has no hole where more was kept than a page holds", async () => {
    const { pages, list } = begin(300);
    await pages.load("older");
    let state = list.state;
    for (let at = 300; at < 450; at += 1) state = apply(state, created(at, 101 + at - 300));
    list.take(state);
    list.take(apply(state, snapshot(430, 452, 900)));
    expect(numbers(list)).toEqual(range(230, 452));
    pages.drop("newer");
    expect(numbers(list)).toEqual(range(230, 280));
    while (!pages.isJoined) await pages.load("newer");
    expect(numbers(list)).toEqual(range(230, 452));
    while (pages.hasOlder) await pages.load("older");
    expect(numbers(list)).toEqual(range(0, 452));
  });

  it("says so when a snapshot begins after everything that it has", () => {
    const { list } = begin(300);
    expect(list.take(apply(list.state, snapshot(400, 420, 900))).kind).toBe("apart");
    list.begin();
    expect(numbers(list)).toEqual(range(400, 420));
  });
});
