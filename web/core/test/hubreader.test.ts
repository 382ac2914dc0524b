import { expect, test } from "vitest";
import type { HubIo, HubPage } from "../src/hubio.ts";
import { HubReader, ROUND_PAGES_MAX } from "../src/hubreader.ts";
import type { Frame } from "../src/multiplex.ts";
import type { LinkStatus } from "../src/stream.ts";
import { Dice } from "./dice.ts";
import { FakeTime, settle } from "./faketime.ts";

function frame(seq: number, prevSeq = seq - 1): Frame {
  const text = String(seq);
  return { conversationId: "a", type: "x.y", seq, prevSeq, isReset: false, text };
}

/** A reader whose stream and pages say what a test wants, also what no sound gateway says. */
function world(cursor: number | null) {
  const time = new FakeTime(new Dice("reader"));
  const asked: (number | null)[] = [];
  const pages: (HubPage | Promise<HubPage>)[] = [];
  const sent: string[] = [];
  const told: LinkStatus["kind"][] = [];
  let reached = 0;
  const io: HubIo = {
    timing: time,
    connect: () => Promise.reject(new Error("a reader has no stream of its own")),
    page: async (_id, after) => {
      asked.push(after);
      const page = pages.shift();
      if (page === undefined) throw new Error("nothing was prepared");
      return page;
    },
    problem: () => Promise.resolve(null),
  };
  const reader = new HubReader({
    conversationId: "a",
    cursor,
    io,
    send: (texts) => sent.push(...texts),
    tell: (status) => told.push(status.kind),
    caughtUp: (at) => (reached > at ? null : { kind: "live" }),
    full: () => undefined,
    closed: () => undefined,
  });
  const stream = (...frames: Frame[]): void => {
    for (const one of frames) {
      reached = one.seq;
      reader.take(one);
    }
    reader.flush();
  };
  const reach = (seq: number): void => {
    reached = seq;
  };
  return { reader, time, asked, pages, sent, told, stream, reach };
}

function page(nextCursor: number, ...frames: Frame[]): HubPage {
  return { frames, nextCursor, atEnd: true };
}

test("a frame that does not follow is kept, and what is missing is read first", async () => {
  const { reader, asked, pages, sent, told, stream } = world(4);
  reader.start(4);
  stream(frame(5));
  pages.push(page(7, frame(6), frame(7)));
  stream(frame(8));
  stream(frame(9));
  expect(sent).toEqual(["5"]);
  await settle();
  expect(asked).toEqual([5]);
  expect(sent).toEqual(["5", "6", "7", "8", "9"]);
  expect(told).toEqual(["live", "connecting", "live"]);
});

test("a frame that was kept and does not follow the pages is read for once more", async () => {
  const { reader, asked, pages, sent, stream } = world(null);
  const snapshot = { ...frame(3, 0), type: "conversation.snapshot" };
  pages.push(page(3, snapshot), page(6, frame(4), frame(5), frame(6)));
  reader.start(null);
  stream(frame(6), frame(7));
  await settle();
  expect(asked).toEqual([null, 3]);
  expect(sent).toEqual(["3", "4", "5", "6", "7"]);
});

test("pages that stay behind the stream are asked for with pauses, not in a busy loop", async () => {
  const { reader, time, asked, pages, sent, told, reach } = world(null);
  const snapshot = { ...frame(3, 0), type: "conversation.snapshot" };
  reach(5);
  pages.push(page(3, snapshot), page(3), page(3), page(5, frame(4), frame(5)));
  reader.start(5);
  await settle();
  // The first time most likely was a race, so it is tried at once.
  expect(asked).toEqual([null, 3]);
  expect(time.waiting).toBe(1);
  await time.advance(10_000);
  expect(asked).toEqual([null, 3, 3, 3]);
  expect(sent).toEqual(["3", "4", "5"]);
  expect(told.at(-1)).toBe("live");
});

test("pages that never come to an end are asked for with pauses, too", async () => {
  const { reader, time, asked, pages, told } = world(4);
  pages.push(...Array.from({ length: ROUND_PAGES_MAX + 2 }, () => ({ ...page(4), atEnd: false })));
  reader.start(5);
  await settle();
  expect(asked).toHaveLength(ROUND_PAGES_MAX);
  expect(told.at(-1)).toBe("waiting");
  pages.splice(0, pages.length, page(5, frame(5)));
  await time.advance(10_000);
  expect(told.at(-1)).toBe("live");
});
