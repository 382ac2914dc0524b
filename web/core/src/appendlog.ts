/**
 * An append-only sequence that successive states share.
 *
 * Each state knows how much of the shared array is its own, so adding to the newest state costs O(1)
 * and an older state never changes. Adding to an *older* state (a branch) copies its part first.
 */

/** The first `length` items of a shared array. Immutable. */
export class AppendLog<T> implements Iterable<T> {
  readonly length: number;
  readonly #items: T[];

  private constructor(items: T[], length: number) {
    this.#items = items;
    this.length = length;
  }

  /** A sequence of its own that holds `items`. */
  static of<T>(...items: T[]): AppendLog<T> {
    return new AppendLog(items, items.length);
  }

  /** The item at `index`, from 0; undefined outside. */
  at(index: number): T | undefined {
    return index >= 0 && index < this.length ? this.#items[index] : undefined;
  }

  /** The sequence with `item` at its end; this one stays as it is. */
  append(item: T): AppendLog<T> {
    const items =
      this.#items.length === this.length ? this.#items : this.#items.slice(0, this.length);
    items.push(item);
    return new AppendLog(items, items.length);
  }

  /** Whether this sequence is `older` with perhaps more at its end. O(1). */
  continues(older: AppendLog<T>): boolean {
    return this.#items === older.#items && this.length >= older.length;
  }

  *[Symbol.iterator](): Iterator<T> {
    // By index: the array may grow while somebody iterates.
    for (let index = 0; index < this.length; index += 1) yield this.#items[index] as T;
  }

  /** A copy of the items. */
  toArray(): T[] {
    return this.#items.slice(0, this.length);
  }
}
