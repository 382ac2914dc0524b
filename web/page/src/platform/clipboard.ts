/**
 * Puts text on the clipboard.
 *
 * `navigator.clipboard` exists only where the page came by HTTPS or from this machine. A gateway in a
 * home network is neither, so there the text is selected in a hidden field and copied as by hand.
 */
export async function copyText(text: string): Promise<boolean> {
  if (window.isSecureContext && "clipboard" in navigator) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Refused, or the page has lost the focus meanwhile: the other way may still work.
    }
  }
  return copyBySelection(text);
}

/** Copies by a field that nobody sees; focus and selection are as before afterwards. */
function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const selection = document.getSelection();
  const ranges: Range[] = [];
  for (let i = 0; i < (selection?.rangeCount ?? 0); i += 1) {
    const range = selection?.getRangeAt(i);
    if (range !== undefined) ranges.push(range.cloneRange());
  }

  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.setAttribute("aria-hidden", "true");
  field.tabIndex = -1;
  field.style.position = "fixed";
  field.style.insetBlockStart = "0";
  field.style.opacity = "0";
  // A modal dialog makes the rest of the page inert; a field inside of it can be selected.
  const place = focused?.closest("dialog[open]") ?? document.body;
  place.appendChild(field);
  try {
    field.focus({ preventScroll: true });
    field.select();
    // Deprecated, and the only way where the page is not a secure context.
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    if (selection !== null && ranges.length > 0) {
      selection.removeAllRanges();
      for (const range of ranges) selection.addRange(range);
    }
  }
}
