/**
 * Heights of rows, and where each begins: the index that a virtual list stands on.
 *
 * A Fenwick tree, so that changing one height and finding the row at an offset take logarithmic time.
 * Pixels, with fractions. A height that nobody measured is an estimate; measuring replaces it.
 */
export class Heights {
  #values: number[] = [];
  #tree: number[] = [0];

  /** Rows in the index. */
  get count(): number {
    return this.#values.length;
  }

  /** Pixels of all rows together. */
  get total(): number {
    return this.offsetOf(this.#values.length);
  }

  /** Height of a row; 0 for one that is not there. */
  at(index: number): number {
    return this.#values[index] ?? 0;
  }

  /** Pixels from the beginning to the top of a row; `count` gives the total. */
  offsetOf(index: number): number {
    let sum = 0;
    for (let at = Math.min(index, this.#values.length); at > 0; at -= at & -at) {
      sum += this.#tree[at] ?? 0;
    }
    return sum;
  }

  /** The row that covers an offset; the first or the last one for offsets outside. -1 if there is none. */
  indexAt(offset: number): number {
    const count = this.#values.length;
    if (count === 0) return -1;
    let left = Math.max(offset, 0);
    let index = 0;
    let step = 1;
    while (step * 2 <= count) step *= 2;
    for (; step > 0; step >>= 1) {
      const next = index + step;
      const part = next <= count ? (this.#tree[next] ?? 0) : Number.POSITIVE_INFINITY;
      if (part <= left) {
        index = next;
        left -= part;
      }
    }
    return Math.min(index, count - 1);
  }

  /** Give a row another height. Returns by how much it grew. */
  set(index: number, height: number): number {
    const old = this.#values[index];
    if (old === undefined || old === height) return 0;
    this.#values[index] = height;
    const grown = height - old;
    for (let at = index + 1; at < this.#tree.length; at += at & -at) {
      this.#tree[at] = (this.#tree[at] ?? 0) + grown;
    }
    return grown;
  }

  /** Add a row behind the last one. */
  push(height: number): void {
    const at = this.#values.push(height);
    const low = at - (at & -at);
    this.#tree.push(height + this.offsetOf(at - 1) - this.offsetOf(low));
  }

  /** Replace rows, as `Array.splice` does. Linear in the rows: for pages that come and go, not for tokens. */
  splice(start: number, removed: number, heights: readonly number[]): void {
    const values = this.#values;
    this.#values = [...values.slice(0, start), ...heights, ...values.slice(start + removed)];
    this.#rebuild();
  }

  #rebuild(): void {
    const values = this.#values;
    const tree = [0, ...values];
    for (let at = 1; at < tree.length; at += 1) {
      const up = at + (at & -at);
      if (up < tree.length) tree[up] = (tree[up] ?? 0) + (tree[at] ?? 0);
    }
    this.#tree = tree;
  }
}
