/**
 * What this page keeps in the browser: settings, drafts' places and scroll places; never a secret.
 *
 * Storage can be missing, full or forbidden (private windows, blocked site data). Reading then
 * gives null and writing does nothing: the page works, it only forgets.
 */

/** All names of ours begin so; one origin may serve other pages too. */
const PREFIX = "blockwire.";

/** The part of `Storage` that is used here. */
export interface TextStore {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

/** A store that may fail at any call, made one that never throws. */
export class SafeStore {
  readonly #open: () => TextStore | null;

  /** @param open Gives the store; called at each use, since even looking at it may throw. */
  constructor(open: () => TextStore | null) {
    this.#open = open;
  }

  /** The text kept under `name`, or null. */
  get(name: string): string | null {
    try {
      return this.#open()?.getItem(PREFIX + name) ?? null;
    } catch {
      return null;
    }
  }

  /** Keeps `value`; false when it could not be kept. */
  set(name: string, value: string): boolean {
    try {
      const store = this.#open();
      store?.setItem(PREFIX + name, value);
      return store !== null;
    } catch {
      return false;
    }
  }

  remove(name: string): void {
    try {
      this.#open()?.removeItem(PREFIX + name);
    } catch {
      // Nothing is kept, which is what was wanted.
    }
  }

  /** The JSON object kept under `name`; an empty one when there is none, or it is damaged. */
  getObject(name: string): Record<string, unknown> {
    const text = this.get(name);
    if (text === null) return {};
    try {
      const value: unknown = JSON.parse(text);
      return typeof value === "object" && value !== null && !Array.isArray(value)
        ? (value as Record<string, unknown>)
        : {};
    } catch {
      return {};
    }
  }

  setObject(name: string, value: Readonly<Record<string, unknown>>): boolean {
    return this.set(name, JSON.stringify(value));
  }
}

/** Settings, for all tabs and for good. */
export const localStore = new SafeStore(() => globalThis.localStorage ?? null);

/** What belongs to this tab and goes with it. */
export const tabStore = new SafeStore(() => globalThis.sessionStorage ?? null);
