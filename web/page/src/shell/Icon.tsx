import type { ButtonHTMLAttributes, JSX } from "preact";

/** Pictures of the shell's controls, lines on a grid of 16, in the colour of the text around them. */
const PATHS = {
  list: "M2.5 3h11v10h-11zM6.5 3v10",
  plus: "M8 3v10M3 8h10",
  pen: "M3 13l.6-2.9 7-7 2.3 2.3-7 7L3 13zM9.3 4.4l2.3 2.3",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.4 10.4 14 14",
  close: "M4 4l8 8M12 4l-8 8",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  gear: "M2 5h7M12.5 5H14M2 11h1.5M7 11h7M10.7 6.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM5.3 12.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z",
  keyboard: "M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M4.5 9.5h7",
  leave: "M6.5 2.5h-4v11h4M6.5 8H14M11 5l3 3-3 3",
  share: "M8 10V2M5 4.7 8 1.8l3 2.9M4 7.5H2.8v6.2h10.4V7.5H12",
  tag: "M2.5 2.5h5l6 6-5 5-6-6zM5.2 5.2h.01",
  fork: "M4.5 5.5v5M4.5 5.5a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM4.5 13.9a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM11.5 5.5a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM11.5 5.5c0 3-3.5 2.5-6 4",
  trash: "M2.5 4.2h11M6 4V2.3h4V4M4 4.2l.6 9.5h6.8l.6-9.5M6.6 6.8v4.4M9.4 6.8v4.4",
  download: "M8 2v8M4.8 7 8 10.2 11.2 7M2.5 13.5h11",
  copy: "M5.5 5.5V3.2c0-.7.5-1.2 1.2-1.2h6.1c.7 0 1.2.5 1.2 1.2v6.1c0 .7-.5 1.2-1.2 1.2h-2.3M3.2 5.5h6.1c.7 0 1.2.5 1.2 1.2v6.1c0 .7-.5 1.2-1.2 1.2H3.2c-.7 0-1.2-.5-1.2-1.2V6.7c0-.7.5-1.2 1.2-1.2z",
  check: "M3 8.5 6.5 12 13 4.5",
  warning: "M8 2 14.5 13.5h-13zM8 6.3v3.4M8 11.6v.2",
  info: "M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM8 7.3v3.9M8 4.9v.2",
} as const;

export type IconName = keyof typeof PATHS;

/** A picture that says nothing to a screen reader: there are words beside it, or in its control. */
export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="sh-icon" viewBox="0 0 16 16" aria-hidden="true" data-icon={name}>
      <path d={PATHS[name]} />
    </svg>
  );
}

/** A button that is a picture; `label` is its name and its tooltip. */
export function IconButton({
  icon,
  label,
  ...rest
}: { icon: IconName; label: string } & ButtonHTMLAttributes<HTMLButtonElement>): JSX.Element {
  return (
    <button
      type="button"
      {...rest}
      class={`sh-icon-button ${rest.class ?? ""}`}
      aria-label={label}
      title={label}
    >
      <Icon name={icon} />
    </button>
  );
}
