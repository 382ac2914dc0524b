import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { EVENT_BYTES_MAX, type ServerSentEvent, SseDecoder } from "../src/sse.ts";
import { Dice } from "./dice.ts";
import { suitePath } from "./suites.ts";

interface SuiteCase {
  id: string;
  stream_hex: string;
  chunks_hex?: string[];
  events: { type: string; data: string; last_event_id: string }[];
  final_last_event_id: string;
  retry_ms: number | null;
}

// Longer streams are cut at fewer places than all, evenly spread, so that this many bytes are read.
const BYTES_READ_MAX = 1_000_000;

function unpacked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpacked);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value);
  if (entries.length === 1 && entries[0]?.[0] === "z") {
    return inflateSync(Buffer.from(String(entries[0][1]), "base64")).toString("utf8");
  }
  return Object.fromEntries(entries.map(([name, member]) => [name, unpacked(member)]));
}

function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "hex"));
}

function read(chunks: Iterable<Uint8Array>, eventBytesMax?: number) {
  const decoder = new SseDecoder(eventBytesMax === undefined ? {} : { eventBytesMax });
  const events: ServerSentEvent[] = [];
  for (const chunk of chunks) events.push(...decoder.receiveData(chunk));
  events.push(...decoder.finish());
  return { events, lastEventId: decoder.lastEventId, retryMs: decoder.retryMs };
}

function text(stream: string): Uint8Array {
  return new TextEncoder().encode(stream);
}

function* singly(stream: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < stream.length; at += 1) yield stream.subarray(at, at + 1);
}

const path = suitePath("sse/cases.json");
const cases: SuiteCase[] =
  path === null ? [] : (unpacked(JSON.parse(readFileSync(path, "utf8")).cases) as SuiteCase[]);

describe.skipIf(path === null)("the public event-stream cases", () => {
  test("are all there", () => {
    expect(cases).toHaveLength(48);
  });

  test.each(cases)("$id", (item) => {
    const stream = hex(item.stream_hex);
    const expected = {
      events: item.events.map((event) => ({
        type: event.type,
        data: event.data,
        lastEventId: event.last_event_id,
      })),
      lastEventId: item.final_last_event_id,
      retryMs: item.retry_ms,
    };
    expect(read([stream])).toEqual(expected);
    expect(read(singly(stream))).toEqual(expected);
    if (item.chunks_hex) expect(read(item.chunks_hex.map(hex))).toEqual(expected);
    // An odd step meets every place of a pattern that repeats.
    const step = Math.floor(stream.length ** 2 / BYTES_READ_MAX) | 1;
    for (let cut = 0; cut <= stream.length; cut += step) {
      expect(read([stream.subarray(0, cut), new Uint8Array(0), stream.subarray(cut)])).toEqual(
        expected,
      );
    }
    const dice = new Dice(item.id);
    for (let round = 0; round < 20; round += 1) {
      expect(read(dice.pieces(stream))).toEqual(expected);
    }
  });
});

const utf8Path = suitePath("utf8/utf8tests.json");
const sequences: { id: string; hex: string; valid: boolean }[] =
  utf8Path === null ? [] : JSON.parse(readFileSync(utf8Path, "utf8")).cases;

describe.skipIf(utf8Path === null)("the public UTF-8 cases in a data line", () => {
  test("are read as the platform reads them, at every cut", () => {
    expect(sequences.length).toBeGreaterThan(100);
    for (const { id, hex: bytes } of sequences) {
      const value = hex(bytes);
      // Line ends end the line; such cases are about something else.
      if (value.includes(10) || value.includes(13)) continue;
      const stream = new Uint8Array([...text("data: "), ...value, 10, 10]);
      const data = new TextDecoder("utf-8", { ignoreBOM: true }).decode(value);
      for (let cut = 0; cut <= stream.length; cut += 1) {
        const { events } = read([stream.subarray(0, cut), stream.subarray(cut)]);
        expect(events, id).toEqual([{ type: "message", data, lastEventId: "" }]);
      }
    }
  });
});

describe("SseDecoder", () => {
  test("gives an event with the first byte of the line end of its blank line", () => {
    const decoder = new SseDecoder();
    expect(decoder.receiveData(text("data: a\r\n\r"))).toHaveLength(1);
    expect(decoder.receiveData(text("\ndata: b\n\n"))).toHaveLength(1);
  });

  test("tells a heartbeat from an event", () => {
    const decoder = new SseDecoder();
    expect(decoder.receiveData(text(":\n\n: still here\n\n"))).toEqual([]);
    expect(decoder.commentCount).toBe(2);
  });

  test("goes on with the id of the connection before", () => {
    const decoder = new SseDecoder({ lastEventId: "7" });
    expect(decoder.receiveData(text("data: a\n\n"))[0]?.lastEventId).toBe("7");
  });

  test("passes an event over that is too large, at any cut, and keeps nothing of it", () => {
    const stream = text(`id: 3\nevent: big\ndata: ${"x".repeat(60)}\n\ndata: small\n\n`);
    const expected = [
      { type: "big", data: null, lastEventId: "3" },
      { type: "message", data: "small", lastEventId: "3" },
    ];
    expect(read([stream], 40).events).toEqual(expected);
    expect(read(singly(stream), 40).events).toEqual(expected);
    const decoder = new SseDecoder({ eventBytesMax: 40 });
    for (const byte of singly(stream)) {
      decoder.receiveData(byte);
      expect(decoder.retainedBytes).toBeLessThanOrEqual(41);
    }
  });

  test("tells of a too large event also where the stream ends inside of it", () => {
    expect(read([text(`id: 3\ndata: ${"x".repeat(60)}`)], 40)).toEqual({
      events: [{ type: "message", data: null, lastEventId: "3" }],
      lastEventId: "3",
      retryMs: null,
    });
  });

  test("keeps nothing of a comment without an end", () => {
    const decoder = new SseDecoder({ eventBytesMax: 40 });
    decoder.receiveData(text(`:${"x".repeat(100)}`));
    expect(decoder.retainedBytes).toBe(0);
    expect(decoder.receiveData(text("more\ndata: a\n\n"))).toHaveLength(1);
  });

  test("reads 8 MB of one line in small pieces in linear time", () => {
    const piece = text("x".repeat(1024));
    const decoder = new SseDecoder({ eventBytesMax: EVENT_BYTES_MAX });
    decoder.receiveData(text("data: "));
    for (let count = 0; count < 8 * 1024; count += 1) decoder.receiveData(piece);
    expect(decoder.receiveData(text("\n\n"))[0]?.data).toHaveLength(8 * 1024 * 1024);
  });

  test("takes nothing after its end", () => {
    const decoder = new SseDecoder();
    decoder.finish();
    expect(() => decoder.receiveData(text("data: a\n\n"))).toThrow("after the end");
  });
});
