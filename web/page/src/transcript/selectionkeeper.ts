/**
 * Keeps what is selected in a text that is still written, however that is drawn anew.
 *
 * Of an open block the end is parsed and drawn again with what comes; a browser lets go of a selection whose
 * nodes leave the document. The places of its ends are kept as characters of the block, and put back before
 * anything is painted.
 *
 * Spec: docs/spec/page/transcript.md.
 */

/** One end of a selection inside of a block that is open. */
interface End {
  readonly block: Element;
  readonly node: Node;
  readonly offset: number;
  /** UTF-16 code units of the block's text before it. */
  readonly units: number;
}

/** Watches the selection inside of `root`; returns how to stop that. */
export function keepSelection(root: HTMLElement): () => void {
  let anchor: End | null = null;
  let focus: End | null = null;
  const changes = new MutationObserver(() => restore());

  const note = (): void => {
    changes.disconnect();
    const selection = document.getSelection();
    if (selection === null || selection.isCollapsed) return;
    anchor = endAt(root, selection.anchorNode, selection.anchorOffset);
    focus = endAt(root, selection.focusNode, selection.focusOffset);
    for (const end of [anchor, focus]) {
      if (end === null) continue;
      changes.observe(end.block, { childList: true, characterData: true, subtree: true });
    }
  };

  const restore = (): void => {
    const selection = document.getSelection();
    const { anchorNode, focusNode } = selection ?? { anchorNode: null, focusNode: null };
    if (selection === null || anchorNode === null || focusNode === null) return;
    const isLost = {
      anchor: isGone(anchor, anchorNode, selection.anchorOffset),
      focus: isGone(focus, focusNode, selection.focusOffset),
    };
    if (!isLost.anchor && !isLost.focus) return;
    const [from, fromOffset] = isLost.anchor
      ? placeOf(anchor)
      : [anchorNode, selection.anchorOffset];
    const [to, toOffset] = isLost.focus ? placeOf(focus) : [focusNode, selection.focusOffset];
    if (from === null || to === null) return;
    selection.setBaseAndExtent(from, fromOffset, to, toOffset);
    note();
  };

  document.addEventListener("selectionchange", note);
  return () => {
    document.removeEventListener("selectionchange", note);
    changes.disconnect();
  };
}

function endAt(root: HTMLElement, node: Node | null, offset: number): End | null {
  if (node === null || !root.contains(node)) return null;
  const element = node instanceof Element ? node : node.parentElement;
  const block = element?.closest('[data-block-id][data-open="true"]') ?? null;
  if (block === null) return null;
  const before = document.createRange();
  before.setStart(block, 0);
  before.setEnd(node, offset);
  return { block, node, offset, units: before.toString().length };
}

/** Whether an end was lost to a change of the document, and not moved by somebody. */
function isGone(end: End | null, node: Node, offset: number): boolean {
  if (end === null) return false;
  if (!end.node.isConnected) return !(node instanceof Text);
  // A text that is written anew takes what stood in it to its beginning.
  return node === end.node && offset === 0 && end.offset > 0;
}

/** Where so many characters of a block end now. */
function placeOf(end: End | null): [Node | null, number] {
  if (end === null || !end.block.isConnected) return [null, 0];
  const walker = document.createTreeWalker(end.block, NodeFilter.SHOW_TEXT);
  let left = end.units;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const { length } = node as Text;
    if (left <= length) return [node, left];
    left -= length;
  }
  return [null, 0];
}
