/**
 * Locks by which a page and the hub's worker learn that the other one is no more, also when it crashed:
 * each holds one as long as it lives, tells its name, and waits for that of the other. Where there are
 * no locks (plain HTTP from another machine), silence tells, later.
 */

/** The first word of either side, besides those of the hub: the name of its lock. */
export interface Lifeline {
  readonly lifeline: string;
}

/** Tells that word from those of the hub. */
export function isLifeline(data: unknown): data is Lifeline {
  return typeof data === "object" && data !== null && "lifeline" in data;
}

/** Holds a lock of a fresh name until the returned function is called, or this context is no more. */
export function holdLifeline(onHeld: (word: Lifeline) => void): () => void {
  if (navigator.locks === undefined) return () => undefined;
  const name = `blockwire.life.${crypto.randomUUID()}`;
  let release: () => void = () => undefined;
  let isOver = false;
  navigator.locks
    .request(name, () => {
      if (isOver) return undefined;
      onHeld({ lifeline: name });
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    })
    .catch(() => undefined);
  return () => {
    isOver = true;
    release();
  };
}

/** Calls `onEnd` when the other side has let go of its lock, until the signal says that nobody cares. */
export function watchLifeline(word: Lifeline, signal: AbortSignal, onEnd: () => void): void {
  navigator.locks
    ?.request(word.lifeline, { signal }, () => {
      if (!signal.aborted) onEnd();
    })
    .catch(() => undefined);
}
