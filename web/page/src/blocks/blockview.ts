import type { BlockState } from "@blockwire/core";

/**
 * One block as it is shown. The element is made once and is the same until `destroy`: focus,
 * selection and what is open in it survive every update.
 */
export interface BlockView {
  readonly element: HTMLElement;
  /** Shows a newer state of the same block. The caller has seen that it is another object. */
  update(block: BlockState): void;
  /** Whether there is anything to see. Reasoning and prose begin empty. */
  readonly isEmpty: boolean;
  /** Draws now what is drawn in idle moments otherwise. */
  complete?(): void;
  /** Lets go of what outlives an element: addresses of pictures, requests. */
  destroy(): void;
}

/** A member of a block that is a string, else nothing. */
export function textMember(block: BlockState, name: string): string {
  const value = block.block[name];
  return typeof value === "string" ? value : "";
}
