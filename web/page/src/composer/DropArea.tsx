/** Files may be dropped anywhere on the page while a composer is there. */

import { useEffect, useRef, useState } from "preact/hooks";
import { strings } from "../strings.ts";
import { Icon } from "./icons.tsx";
import { filesOf, hasFiles } from "./pastes.ts";

export function DropArea({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    // Entering a child is told before leaving its parent: only the count says who is left.
    let depth = 0;
    const isOurs = (event: DragEvent): boolean =>
      hasFiles(event.dataTransfer) && document.querySelector("dialog[open]") === null;
    const enter = (event: DragEvent): void => {
      if (!isOurs(event)) return;
      event.preventDefault();
      depth += 1;
      setOver(true);
    };
    const over = (event: DragEvent): void => {
      if (!hasFiles(event.dataTransfer)) return;
      // Also where it is not taken: a browser would leave the page for the file.
      event.preventDefault();
      if (event.dataTransfer !== null)
        event.dataTransfer.dropEffect = isOurs(event) ? "copy" : "none";
    };
    const leave = (): void => {
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      depth = 0;
      setOver(false);
      if (!hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      if (isOurs(event)) take.current(filesOf(event.dataTransfer));
    };
    document.addEventListener("dragenter", enter);
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragenter", enter);
      document.removeEventListener("dragover", over);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  }, []);
  if (!isOver) return null;
  return (
    <div class="co-drop" aria-hidden="true">
      <div class="co-drop-words">
        <Icon name="attach" />
        {strings.composer.dropHere}
      </div>
    </div>
  );
}
