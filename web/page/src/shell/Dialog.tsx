import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { strings } from "../strings.ts";
import { IconButton } from "./Icon.tsx";

/**
 * A modal dialog: the browser keeps the focus inside and everything else inert, Esc closes it, and
 * the focus goes back to where it was.
 */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Wider than a column of a form. */
  isWide?: boolean;
  role?: "alertdialog";
}): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  // biome-ignore lint/correctness/useExhaustiveDependencies: opened once, when it is made.
  useEffect(() => {
    const dialog = element.current;
    if (dialog === null) return;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      if (dialog.open) dialog.close();
      // The element that had the focus may be gone: what was deleted, the menu that was open.
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);

  return (
    <dialog
      ref={element}
      class={`sh-dialog ${props.isWide ? "sh-dialog-wide" : ""}`}
      aria-labelledby={titleId}
      role={props.role}
      onCancel={(event) => {
        // Closed by taking it out of the page, so that there is one way only.
        event.preventDefault();
        props.onClose();
      }}
      onPointerDown={(event) => {
        if (event.target === event.currentTarget) props.onClose();
      }}
    >
      <div class="sh-dialog-body">
        <header class="sh-dialog-head">
          <h2 id={titleId} dir="auto">
            {props.title}
          </h2>
          <IconButton icon="close" label={strings.shell.close} onClick={props.onClose} />
        </header>
        {props.children}
      </div>
    </dialog>
  );
}
