/** Time and randomness as values, and how long is waited between attempts. */

/** A clock, timers and dice; tests bring their own. */
export interface Timing {
  /**
   * Unix milliseconds, never going back. It goes on while the machine sleeps, so a long sleep is seen as
   * silence.
   */
  nowMs(): number;
  /** A number in [0, 1). */
  random(): number;
  /** Calls `call` once after `delayMs`, unless the returned function was called before. */
  schedule(delayMs: number, call: () => void): () => void;
}

/**
 * Returns a clock in Unix milliseconds that never goes back. What waits until a moment would wait for
 * hours where the clock of the machine is set back; one that is set ahead is as good as a sleep.
 *
 * @param wallMs The clock of the machine: it may jump, and goes on while the machine sleeps.
 * @param steadyMs A clock that does neither.
 */
export function steadyClock(wallMs: () => number, steadyMs: () => number): () => number {
  let lastWallMs = wallMs();
  let lastSteadyMs = steadyMs();
  let nowMs = lastWallMs;
  return () => {
    const wall = wallMs();
    const steady = steadyMs();
    nowMs += Math.max(wall - lastWallMs, steady - lastSteadyMs, 0);
    lastWallMs = wall;
    lastSteadyMs = steady;
    return nowMs;
  };
}

/** The time of this machine. */
export const systemTiming: Timing = {
  nowMs: steadyClock(
    () => Date.now(),
    () => performance.now(),
  ),
  random: () => Math.random(),
  schedule: (delayMs, call) => {
    const timer = setTimeout(call, delayMs);
    return () => clearTimeout(timer);
  },
};

// Beyond it every pause is at its bound, and a power of two would only grow.
const DOUBLINGS_MAX = 32;

/**
 * Returns a random pause before the next attempt: exponential back-off with full jitter. Many clients
 * that lose their gateway at the same moment come back spread over the whole interval, not in step.
 *
 * @param failureCount Attempts that failed in a row, at least 1.
 * @param firstMs Longest pause after the first.
 * @param maxMs Longest pause after any.
 * @param random Returns a number in [0, 1).
 */
export function pauseMs(
  failureCount: number,
  firstMs: number,
  maxMs: number,
  random: () => number,
): number {
  const longestMs = firstMs * 2 ** Math.min(failureCount - 1, DOUBLINGS_MAX);
  return random() * Math.min(longestMs, maxMs);
}
