import { describe, expect, it } from "vitest";
import { Heights } from "../src/transcript/heights.ts";
import { Layout } from "../src/transcript/layout.ts";

/** Repeatable chance. */
function chance(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * below);
  };
}

describe("heights", () => {
  it("agree with a plain array, whatever is done to them", () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const roll = chance(seed);
      const heights = new Heights();
      let plain: number[] = [];
      for (let step = 0; step < 120; step += 1) {
        const what = roll(4);
        if (what === 0) {
          const height = roll(400) / 4;
          heights.push(height);
          plain.push(height);
        } else if (what === 1 && plain.length > 0) {
          const index = roll(plain.length);
          const height = roll(400) / 4;
          const grown = heights.set(index, height);
          expect(grown).toBe(height - (plain[index] ?? 0));
          plain[index] = height;
        } else if (what === 2) {
          const start = roll(plain.length + 1);
          const removed = roll(4);
          const added = Array.from({ length: roll(5) }, () => roll(400) / 4);
          heights.splice(start, removed, added);
          plain = [...plain.slice(0, start), ...added, ...plain.slice(start + removed)];
        }
        expect(heights.count).toBe(plain.length);
        const sums = [0];
        for (const height of plain) sums.push((sums.at(-1) ?? 0) + height);
        expect(sums.map((_, at) => heights.offsetOf(at))).toEqual(sums);
        expect(heights.total).toBe(sums.at(-1));
        const offset = roll(Math.ceil(heights.total) + 2);
        const expected = plain.findIndex((_, at) => (sums[at + 1] ?? 0) > offset);
        expect(heights.indexAt(offset)).toBe(expected < 0 ? plain.length - 1 : expected);
      }
    }
  });

  it("know no row where there is none", () => {
    const heights = new Heights();
    expect(heights.indexAt(10)).toBe(-1);
    expect(heights.at(0)).toBe(0);
    expect(heights.set(3, 10)).toBe(0);
    heights.push(5);
    expect(heights.indexAt(-3)).toBe(0);
    expect(heights.indexAt(99)).toBe(0);
  });
});

/**
 * A browser and its reader, in the plainest way: rows with true heights, a container that lays out what it was
 * given and cuts offsets, and a reader who looks at one row.
 */
class Simulation {
  readonly layout = new Layout();
  /** True heights, which only looking at a row tells. */
  truth: number[] = [];
  ids: number[] = [];
  scrollTop = 0;
  #nextId = 0;
  readonly viewport = 600;

  readonly roll: (below: number) => number;

  constructor(roll: (below: number) => number) {
    this.roll = roll;
    this.layout.setViewport(this.viewport);
    this.layout.setEdges(24, 24);
  }

  newRow(): { id: number; height: number; estimate: number } {
    this.#nextId += 1;
    return { id: this.#nextId, height: 20 + this.roll(2000) / 4, estimate: 20 + this.roll(500) };
  }

  get lead(): number {
    return this.layout.frame.lead;
  }

  /** Top of a mounted row in the document. */
  contentTop(index: number): number {
    let top = this.lead;
    for (let at = this.layout.mounted.first; at < index; at += 1) top += this.truth[at] ?? 0;
    return top;
  }

  screenTop(id: number): number {
    return this.contentTop(this.ids.indexOf(id)) - this.scrollTop;
  }

  /** The greatest offset that the document allows. */
  get scrollMax(): number {
    const { first, last } = this.layout.mounted;
    let height = this.lead + this.layout.frame.trail;
    for (let at = first; at <= last; at += 1) height += this.truth[at] ?? 0;
    return Math.max(0, height - this.viewport);
  }

  /** The mounted row that is seen first. */
  seen(): number {
    for (let at = this.layout.mounted.first; at <= this.layout.mounted.last; at += 1) {
      if (this.contentTop(at) + (this.truth[at] ?? 0) > this.scrollTop) return this.ids[at] ?? -1;
    }
    return -1;
  }

  /** What a frame does: mount, lay out, measure, put back. `anchor` is in content pixels before. */
  frame(anchor: { id: number; contentTop: number } | null): void {
    const before = this.layout.scrollTop;
    if (this.layout.mustSettle) this.layout.settle();
    let expected = (anchor?.contentTop ?? 0) + this.layout.scrollTop - before;
    const middle = this.layout.scrollTop;
    this.layout.mount(this.layout.wanted(600));
    expected += this.layout.scrollTop - middle;
    for (let at = this.layout.mounted.first; at <= this.layout.mounted.last; at += 1) {
      this.layout.measure(at, this.truth[at] ?? 0);
    }
    const pixels = anchor === null ? 0 : this.contentTop(this.ids.indexOf(anchor.id)) - expected;
    this.layout.moved(pixels);
    this.scrollTop = this.layout.scrollTop;
    expect(this.scrollTop).toBeLessThanOrEqual(this.scrollMax + 1e-6);
  }

  anchor(): { id: number; contentTop: number } | null {
    const id = this.seen();
    return id < 0 ? null : { id, contentTop: this.contentTop(this.ids.indexOf(id)) };
  }
}

describe("the reader's place", () => {
  it("stays to the pixel, whatever comes above, below and around it", () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const roll = chance(seed);
      const page = new Simulation(roll);
      const { layout } = page;
      for (let count = 5 + roll(60); count > 0; count -= 1) {
        const row = page.newRow();
        page.ids.push(row.id);
        page.truth.push(row.height);
        layout.heights.push(row.estimate);
      }
      layout.toEnd();
      page.frame(null);
      page.frame(page.anchor());
      for (let step = 0; step < 120; step += 1) {
        const anchor = page.anchor();
        const top = anchor === null ? 0 : page.screenTop(anchor.id);
        let moved = 0;
        const what = roll(7);
        if (what === 0) {
          const row = page.newRow();
          page.ids.push(row.id);
          page.truth.push(row.height);
          layout.heights.push(row.estimate);
        } else if (what === 1) {
          const rows = Array.from({ length: 1 + roll(20) }, () => page.newRow());
          page.ids.unshift(...rows.map(({ id }) => id));
          page.truth.unshift(...rows.map(({ height }) => height));
          const old = page.ids.slice(rows.length).map((_, at) => layout.heights.at(at));
          layout.rearrange(
            [...rows.map(({ estimate }) => estimate), ...old],
            layout.mounted.first + rows.length,
          );
        } else if (what === 2 && layout.mounted.first > 2) {
          const gone = roll(layout.mounted.first);
          const old = page.ids.slice(gone).map((_, at) => layout.heights.at(at + gone));
          page.ids.splice(0, gone);
          page.truth.splice(0, gone);
          layout.rearrange(old, layout.mounted.first - gone);
        } else if (what === 3 && layout.mounted.last < page.ids.length - 3) {
          const kept = layout.mounted.last + 1 + roll(3);
          page.ids.length = kept;
          page.truth.length = kept;
          layout.rearrange(
            page.ids.map((_, at) => layout.heights.at(at)),
            layout.mounted.first,
          );
        } else if (what === 4) {
          const at = roll(page.ids.length);
          // What is not in the document grows unseen; it is measured when it comes.
          page.truth[at] = 10 + roll(4000) / 4;
        } else if (what === 5) {
          const by = roll(1600) - 800;
          const max = Math.max(0, page.scrollMax);
          const to = Math.max(0, Math.min(max, page.scrollTop + by));
          moved = to - page.scrollTop;
          page.scrollTop = to;
          layout.scrolled(to);
        } else {
          const before = layout.scrollTop;
          layout.settle();
          page.scrollTop = layout.scrollTop;
          if (anchor !== null) {
            expect(page.screenTop(anchor.id)).toBeCloseTo(top, 6);
            page.frame({
              id: anchor.id,
              contentTop: anchor.contentTop + layout.scrollTop - before,
            });
            expect(page.screenTop(anchor.id)).toBeCloseTo(top, 6);
          }
          continue;
        }
        const isThere =
          anchor !== null &&
          page.ids.indexOf(anchor.id) >= layout.wanted(600).first &&
          page.ids.indexOf(anchor.id) <= layout.wanted(600).last;
        if (anchor === null || !isThere) {
          page.frame(null);
          continue;
        }
        page.frame(anchor);
        expect(page.screenTop(anchor.id), `seed ${seed} step ${step} what ${what}`).toBeCloseTo(
          top - moved,
          6,
        );
      }
    }
  });

  it("is never written to the scroll offset while the lead can give it", () => {
    const layout = new Layout();
    layout.setViewport(500);
    for (let at = 0; at < 40; at += 1) layout.heights.push(100);
    layout.scrolled(0);
    layout.mount({ first: 15, last: 25 });
    layout.hold(2000);
    layout.measure(16, 180);
    layout.moved(80);
    expect(layout.frame).toMatchObject({ lead: 1420, scrollTop: 2000 });
    expect(layout.debt).toBe(-80);
    expect(layout.settle()).toBe(true);
    expect(layout.frame).toMatchObject({ lead: 1500, scrollTop: 2080 });
    expect(layout.settle()).toBe(false);
  });

  it("pays no more at once than the offset has: it never stands above the beginning", () => {
    const layout = new Layout();
    layout.setViewport(500);
    for (let at = 0; at < 40; at += 1) layout.heights.push(100);
    layout.hold(500);
    layout.mount({ first: 5, last: 15 });
    layout.scrolled(120);
    // What is above turns out to be much lower than it was thought to be.
    for (let at = 0; at < 5; at += 1) layout.measure(at, 10);
    expect(layout.debt).toBe(450);
    const seen = layout.topOf(5) - layout.scrollTop;
    expect(layout.settle()).toBe(true);
    expect(layout.frame).toMatchObject({ lead: 380, scrollTop: 0 });
    expect(layout.topOf(5) - layout.scrollTop).toBe(seen);
    expect(layout.settle()).toBe(false);
  });

  it("is kept over empty space where the text below became shorter, until the reader leaves it", () => {
    const layout = new Layout();
    layout.setViewport(500);
    for (let at = 0; at < 10; at += 1) layout.heights.push(100);
    layout.mount({ first: 0, last: 9 });
    layout.hold(500);
    layout.measure(9, 20);
    layout.moved(0);
    expect(layout.frame.scrollTop).toBe(500);
    expect(layout.scrollHeight).toBe(1000);
    layout.scrolled(450);
    expect(layout.scrollHeight).toBe(950);
    layout.scrolled(300);
    expect(layout.scrollHeight).toBe(920);
    expect(layout.isAtEnd).toBe(false);
    layout.toEnd();
    expect(layout.scrollTop).toBe(420);
    expect(layout.isAtEnd).toBe(true);
  });

  it("is no place beyond the ends, where rubber bands show", () => {
    const layout = new Layout();
    layout.setViewport(500);
    for (let at = 0; at < 10; at += 1) layout.heights.push(100);
    layout.mount({ first: 0, last: 9 });
    layout.scrolled(-80);
    expect(layout.scrollTop).toBe(0);
    layout.scrolled(590);
    expect(layout.scrollTop).toBe(500);
    expect(layout.scrollHeight).toBe(1000);
  });

  it("takes into the lead what a browser rounds", () => {
    const layout = new Layout();
    layout.setViewport(500);
    for (let at = 0; at < 10; at += 1) layout.heights.push(100);
    layout.mount({ first: 5, last: 9 });
    layout.hold(400.4);
    layout.landed(400);
    expect(layout.scrollTop).toBe(400);
    expect(layout.frame.lead).toBeCloseTo(499.6, 9);
  });
});
