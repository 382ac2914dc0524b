/** Work that may wait: in slices of idle time, or shortly after where browsers know none. */

/** Longest slice, in milliseconds, so that a key press is never felt to wait. */
const SLICE_MS = 8;
/** A slice comes after so many milliseconds, however busy the page is. */
const WAIT_MS = 500;

/**
 * Calls `work` once, when the page is idle, with a function that says whether it may go on.
 *
 * @returns Takes the call back.
 */
export function idle(work: (mayGoOn: () => boolean) => void): () => void {
  const run = (): void => {
    const end = performance.now() + SLICE_MS;
    work(() => performance.now() < end);
  };
  if (typeof requestIdleCallback === "function") {
    const handle = requestIdleCallback(run, { timeout: WAIT_MS });
    return () => cancelIdleCallback(handle);
  }
  const handle = setTimeout(run, 1);
  return () => clearTimeout(handle);
}
