import { useSignal } from "@preact/signals";
import type { JSX, TargetedKeyboardEvent } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon, IconButton, type IconName } from "./Icon.tsx";

/** One line of a menu: something to do, a heading, or what is said at its foot. */
export type MenuEntry =
  | {
      readonly kind: "action";
      readonly label: string;
      readonly icon?: IconName;
      readonly isDanger?: boolean;
      readonly run: () => void;
    }
  | { readonly kind: "heading"; readonly label: string }
  | { readonly kind: "note"; readonly label: string };

const EDGE_PX = 8;

/** A button that opens a menu: arrows, Home, End and letters move in it, Esc goes back. */
export function MenuButton(props: {
  label: string;
  icon: IconName;
  entries: () => readonly MenuEntry[];
  tabIndex?: number;
}): JSX.Element {
  const isOpen = useSignal(false);
  const button = useRef<HTMLSpanElement>(null);
  const id = useId();
  return (
    <span class="sh-menu-anchor" ref={button}>
      <IconButton
        icon={props.icon}
        label={props.label}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        aria-controls={isOpen.value ? id : undefined}
        tabIndex={props.tabIndex}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      />
      {isOpen.value && (
        <MenuList
          id={id}
          label={props.label}
          entries={props.entries()}
          anchor={() => button.current}
          onClose={(byKey) => {
            isOpen.value = false;
            if (byKey) button.current?.querySelector("button")?.focus();
          }}
        />
      )}
    </span>
  );
}

function MenuList(props: {
  id: string;
  label: string;
  entries: readonly MenuEntry[];
  anchor: () => HTMLElement | null;
  onClose: (byKey: boolean) => void;
}): JSX.Element {
  const element = useRef<HTMLDivElement>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: shown once, when it is made.
  useEffect(() => {
    const list = element.current;
    if (list === null) return;
    // In the top layer nothing cuts it off, wherever the button is.
    list.showPopover();
    place(list, props.anchor());
    itemsOf(list)[0]?.focus();
    const outside = (event: Event): void => {
      const { target } = event;
      if (target instanceof Node && (list.contains(target) || props.anchor()?.contains(target)))
        return;
      props.onClose(false);
    };
    document.addEventListener("pointerdown", outside, true);
    document.addEventListener("scroll", outside, true);
    window.addEventListener("resize", outside);
    return () => {
      document.removeEventListener("pointerdown", outside, true);
      document.removeEventListener("scroll", outside, true);
      window.removeEventListener("resize", outside);
    };
  }, []);

  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    const items = itemsOf(event.currentTarget);
    const at = items.findIndex((item) => item === document.activeElement);
    const to = (index: number): void => items[(index + items.length) % items.length]?.focus();
    if (event.key === "ArrowDown") to(at + 1);
    else if (event.key === "ArrowUp") to(at - 1);
    else if (event.key === "Home") to(0);
    else if (event.key === "End") to(-1);
    else if (event.key === "Escape" || event.key === "Tab") props.onClose(true);
    else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.key !== " ") {
      const letter = event.key.toLowerCase();
      const after = [...items.slice(at + 1), ...items.slice(0, at + 1)];
      after.find((item) => item.textContent?.toLowerCase().startsWith(letter))?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div
      ref={element}
      id={props.id}
      class="sh-menu"
      popover="manual"
      role="menu"
      aria-label={props.label}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      {props.entries.map((entry) =>
        entry.kind === "action" ? (
          <button
            key={entry.label}
            type="button"
            role="menuitem"
            tabIndex={-1}
            class={`sh-menu-item ${entry.isDanger ? "sh-danger" : ""}`}
            onClick={() => {
              // The focus goes back first, so that a dialog that opens knows where to return to.
              props.onClose(true);
              entry.run();
            }}
          >
            {entry.icon && <Icon name={entry.icon} />}
            <span>{entry.label}</span>
          </button>
        ) : (
          <div key={entry.label} class={`sh-menu-${entry.kind}`} role="presentation">
            {entry.label}
          </div>
        ),
      )}
    </div>
  );
}

function itemsOf(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>("[role=menuitem]")];
}

/** Puts the menu below its button, or above where there is no room, within the window. */
function place(list: HTMLElement, anchor: HTMLElement | null): void {
  if (anchor === null) return;
  const at = anchor.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const isLeft = at.left + at.width / 2 < window.innerWidth / 2;
  const left = isLeft ? at.left : at.right - width;
  const below = at.bottom + 4;
  const top = below + height > window.innerHeight - EDGE_PX ? at.top - height - 4 : below;
  list.style.left = `${Math.max(EDGE_PX, Math.min(left, window.innerWidth - width - EDGE_PX))}px`;
  list.style.top = `${Math.max(EDGE_PX, top)}px`;
}
