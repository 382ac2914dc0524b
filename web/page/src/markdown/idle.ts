/** Work that may wait: in slices of idle time, or shortly after where browsers know none. */

/** Longest slice, in milliseconds, so that a key press is never felt to wait. */
const SLICE_MS = 8;
/** How long work that nobody waits for may be put off, in milliseconds. */
const WAIT_MS = 500;

/** Begins a slice; says whether it may go on. */
export function budget(): () => boolean {
  const end = performance.now() + SLICE_MS;
  return () => performance.now() < end;
}

/**
 * Calls `work` once, when the page is idle, with a function that says whether it may go on.
 *
 * @param waitMs - Comes after so many milliseconds, however busy the page is.
 * @returns Takes the call back.
 */
export function idle(work: (mayGoOn: () => boolean) => void, waitMs = WAIT_MS): () => void {
  const run = (): void => work(budget());
  if (typeof requestIdleCallback === "function") {
    const handle = requestIdleCallback(run, { timeout: waitMs });
    return () => cancelIdleCallback(handle);
  }
  const handle = setTimeout(run, 1);
  return () => clearTimeout(handle);
}
