/** Seeded randomness for tests: the same seed gives the same throws, on every machine. */
export class Dice {
  #state: number;

  constructor(seed: string | number) {
    this.#state = 0x9e3779b9;
    for (const char of String(seed)) {
      this.#state = Math.imul(this.#state ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
    }
  }

  /** A number in [0, 1). */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };

  /** An integer in [0, count). */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** One of `items`, which is not empty. */
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  /** Whether something of this chance happens. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** `bytes` in up to six pieces, some of which may be empty. */
  pieces(bytes: Uint8Array): Uint8Array[] {
    const cuts = Array.from({ length: 5 }, () => this.below(bytes.length + 1));
    cuts.sort((one, other) => one - other);
    const ends = [...cuts, bytes.length];
    return ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1], end));
  }
}
