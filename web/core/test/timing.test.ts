import { expect, test } from "vitest";
import { steadyClock } from "../src/timing.ts";

test("a steady clock goes on where the machine's clock is set back, and over a sleep", () => {
  let wall = 1_000_000;
  let steady = 5;
  const now = steadyClock(
    () => wall,
    () => steady,
  );
  expect(now()).toBe(1_000_000);
  wall += 10;
  steady += 10;
  expect(now()).toBe(1_000_010);
  // Set back by an hour, while a second passes.
  wall -= 3_600_000;
  steady += 1_000;
  expect(now()).toBe(1_001_010);
  wall += 500;
  steady += 500;
  expect(now()).toBe(1_001_510);
  // Asleep for a minute: only one of the clocks goes on.
  wall += 60_000;
  expect(now()).toBe(1_061_510);
  // Read twice at one moment.
  expect(now()).toBe(1_061_510);
});
