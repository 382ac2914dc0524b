/** Follows the end of the conversation or lets it go, as the reader does, and shows the way back to it. */
import { afterDoing, type Doing, type Following, followingAtFirst } from "./follow.ts";
import { JumpButton } from "./jump.ts";
import type { Stage } from "./stage.ts";

export interface FollowerOptions {
  stage(): Stage;
  /** Whether what is loaded reaches the live state. */
  isJoined(): boolean;
  /** Whether an answer is written now. */
  isRunning(): boolean;
  /** The reader wants to be at the end. */
  follow(): void;
  /** The end is to be shown in the next frame. */
  schedule(): void;
}

export class Follower {
  readonly jump: JumpButton;
  /** Messages that came while somebody read further up. */
  newBelow = 0;
  readonly #options: FollowerOptions;
  readonly #listeners = new Set<(isOn: boolean) => void>();
  #following: Following = followingAtFirst;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.jump = new JumpButton(() => options.follow());
  }

  /** Whether the end is followed. */
  get isOn(): boolean {
    return this.#following.isOn;
  }

  /** Whether the end is to be seen now: not while something is held down. */
  get isPinned(): boolean {
    return this.#following.isOn && !this.#following.isHeld && this.#options.isJoined();
  }

  /** Calls back when `isOn` changed; returns how to stop that. */
  onChange(listener: (isOn: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The reader did something. */
  does(doing: Doing): void {
    const before = this.#following;
    this.#following = afterDoing(before, doing);
    if (this.#following === before) return;
    const wasPinned = before.isOn && !before.isHeld;
    if (wasPinned && !this.isPinned) this.#options.stage().holdPlace();
    if (this.isPinned) {
      this.newBelow = 0;
      this.#options.schedule();
    }
    if (before.isOn === this.isOn) return;
    this.show();
    for (const listener of this.#listeners) listener(this.isOn);
  }

  /** Show the button to the end, or hide it. */
  show(): void {
    const { stage, isJoined, isRunning } = this.#options;
    const isAway = !this.isOn && (!stage().layout.isAtEnd || !isJoined());
    this.jump.show(isAway, this.newBelow, isRunning());
  }
}
