/**
 * Event-stream bytes to events, at any cut, in linear time and bounded memory.
 *
 * Spec: docs/spec/sse.md; WHATWG HTML, "Parsing an event stream" and "Interpreting an event stream".
 *
 * Lines are cut from bytes and decoded whole. That is the same as decoding the stream first: a line
 * end is ASCII, so it never is part of a character, and an unfinished character before it becomes
 * U+FFFD either way. It also means that no character is ever cut by a read.
 */

/**
 * Bytes of the lines of one event that a decoder retains unless it is told otherwise. The standard
 * has no bound; this one lets every tool output through that our gateway takes.
 */
export const EVENT_BYTES_MAX = 16 * 1024 * 1024;

/** Digits of a reconnection time; a longer one is ignored. */
export const RETRY_DIGITS_MAX = 32;

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const BOM: readonly number[] = [0xef, 0xbb, 0xbf];
const NOTHING = new Uint8Array(0);

/** One event of a stream. */
export interface ServerSentEvent {
  /** `message` unless the stream named another. */
  readonly type: string;
  /** The data lines joined by LF; null when they were larger than the bound and not kept. */
  readonly data: string | null;
  /** The id in force at this event, from itself or an earlier one; may be empty. */
  readonly lastEventId: string;
}

/**
 * Turns the bytes of one response into events. The next connection takes a new decoder, to which the
 * caller hands the `lastEventId` of the old one.
 */
export class SseDecoder {
  readonly #eventBytesMax: number;
  readonly #text = new TextDecoder("utf-8", { ignoreBOM: true });
  #lastEventId: string;
  #retryMs: number | null = null;
  #commentCount = 0;
  #isEnded = false;
  // Bytes of a byte-order mark that has begun; null once the start of the stream is behind us.
  #head: number[] | null = [];
  #afterCr = false;
  // The line that has not ended yet; while it is skipped, nothing of it is kept.
  #pieces: Uint8Array[] = [];
  #lineBytes = 0;
  #lineIsSkipped = false;
  // The event that has not ended yet. The id outlives it.
  #id: string;
  #type = "";
  #data: string[] = [];
  #eventBytes = 0;
  #isTooLarge = false;

  constructor(options: { lastEventId?: string; eventBytesMax?: number } = {}) {
    this.#eventBytesMax = options.eventBytesMax ?? EVENT_BYTES_MAX;
    this.#lastEventId = options.lastEventId ?? "";
    this.#id = this.#lastEventId;
  }

  /** The id in force after the last blank line: where a new connection goes on. */
  get lastEventId(): string {
    return this.#lastEventId;
  }

  /** The reconnection time that the stream asked for last, in milliseconds, unclamped. */
  get retryMs(): number | null {
    return this.#retryMs;
  }

  /** How many comment lines have ended so far: heartbeats, mostly. */
  get commentCount(): number {
    return this.#commentCount;
  }

  /** Bytes kept of the unfinished event and line: at most the bound and one line end. */
  get retainedBytes(): number {
    return this.#lineBytes + this.#eventBytes;
  }

  /**
   * Consumes bytes and returns the events that they completed, in order; each as soon as the first
   * byte of the line end of its blank line is there. An event larger than the bound comes with
   * `data: null`, and reading goes on after it.
   *
   * @throws Error after {@link finish}.
   */
  receiveData(bytes: Uint8Array): ServerSentEvent[] {
    if (this.#isEnded) throw new Error("data after the end of the stream");
    const data = this.#head === null ? bytes : this.#withoutBom(bytes);
    const events: ServerSentEvent[] = [];
    let start = 0;
    if (this.#afterCr && data.length > 0) {
      this.#afterCr = false;
      if (data[0] === LF) start = 1;
    }
    let lf = data.indexOf(LF, start);
    let cr = data.indexOf(CR, start);
    while (lf >= 0 || cr >= 0) {
      const isCr = cr >= 0 && (lf < 0 || cr < lf);
      const end = isCr ? cr : lf;
      this.#endLine(data.subarray(start, end), events);
      start = end + 1;
      if (isCr) {
        if (lf === start) {
          start += 1;
          lf = data.indexOf(LF, start);
        } else if (start === data.length) {
          this.#afterCr = true;
        }
        cr = data.indexOf(CR, start);
      } else {
        lf = data.indexOf(LF, start);
      }
    }
    if (start < data.length) this.#keepUnfinished(data.subarray(start));
    return events;
  }

  /**
   * Ends the stream; an unfinished event is discarded, and its id with it. Only an event already
   * known to be too large is returned, and its id counts: it would be too large next time, too.
   */
  finish(): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    if (this.#isTooLarge) this.#endEvent(events);
    this.#isEnded = true;
    this.#dropLine();
    this.#dropData();
    return events;
  }

  /** Returns what follows the mark at the start of the stream; nothing while it may yet come. */
  #withoutBom(bytes: Uint8Array): Uint8Array {
    const head = this.#head ?? [];
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      if (byte !== BOM[head.length]) {
        this.#head = null;
        return joined([Uint8Array.from(head), bytes.subarray(at)]);
      }
      head.push(byte);
      if (head.length === BOM.length) {
        this.#head = null;
        return bytes.subarray(at + 1);
      }
    }
    return NOTHING;
  }

  #endLine(last: Uint8Array, events: ServerSentEvent[]): void {
    if (this.#lineIsSkipped) {
      this.#lineIsSkipped = false;
      return;
    }
    let line = last;
    if (this.#pieces.length > 0) {
      line = joined([...this.#pieces, last]);
      this.#dropLine();
    }
    if (line.length === 0) this.#endEvent(events);
    else this.#takeLine(line);
  }

  #keepUnfinished(piece: Uint8Array): void {
    if (this.#lineIsSkipped) return;
    const lineBytes = this.#lineBytes + piece.length;
    if (this.#eventBytes + lineBytes > this.#eventBytesMax) {
      const isComment = (this.#pieces[0] ?? piece)[0] === COLON;
      if (!isComment) this.#giveUpEvent();
      if (isComment || lineBytes > this.#eventBytesMax) {
        if (isComment) this.#commentCount += 1;
        this.#dropLine();
        this.#lineIsSkipped = true;
        return;
      }
    }
    // A copy: whoever read these bytes may use their buffer again.
    this.#pieces.push(piece.slice());
    this.#lineBytes = lineBytes;
  }

  #takeLine(line: Uint8Array): void {
    if (line[0] === COLON) {
      this.#commentCount += 1;
      return;
    }
    if (this.#eventBytes + line.length > this.#eventBytesMax) {
      this.#giveUpEvent();
      if (line.length > this.#eventBytesMax) return;
    }
    const colon = line.indexOf(COLON);
    const nameEnd = colon < 0 ? line.length : colon;
    let valueStart = colon < 0 ? line.length : colon + 1;
    if (line[valueStart] === SPACE) valueStart += 1;
    const name = this.#text.decode(line.subarray(0, nameEnd));
    this.#takeField(name, line.subarray(valueStart), line.length);
  }

  #takeField(name: string, value: Uint8Array, lineBytes: number): void {
    switch (name) {
      case "data":
        if (this.#isTooLarge) return;
        this.#data.push(this.#text.decode(value));
        break;
      case "event":
        this.#type = this.#text.decode(value);
        break;
      case "id":
        if (value.includes(0)) return;
        this.#id = this.#text.decode(value);
        break;
      case "retry":
        if (isDigits(value)) this.#retryMs = Number(this.#text.decode(value));
        return;
      default:
        return;
    }
    this.#eventBytes += lineBytes;
  }

  #endEvent(events: ServerSentEvent[]): void {
    this.#lastEventId = this.#id;
    if (this.#isTooLarge || this.#data.length > 0) {
      const data = this.#isTooLarge ? null : this.#data.join("\n");
      events.push({ type: this.#type || "message", data, lastEventId: this.#id });
    }
    this.#isTooLarge = false;
    this.#type = "";
    this.#dropData();
  }

  /** Keeps nothing more of the event but its type and id, which may still come. */
  #giveUpEvent(): void {
    this.#isTooLarge = true;
    this.#dropData();
  }

  #dropData(): void {
    this.#data = [];
    this.#eventBytes = 0;
  }

  #dropLine(): void {
    this.#pieces = [];
    this.#lineBytes = 0;
  }
}

function isDigits(value: Uint8Array): boolean {
  if (value.length === 0 || value.length > RETRY_DIGITS_MAX) return false;
  return value.every((byte) => byte >= 0x30 && byte <= 0x39);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
