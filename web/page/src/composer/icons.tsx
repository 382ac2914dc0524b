/** Small drawings on controls. Each control has its name in words; these say nothing aloud. */

const PATHS = {
  attach:
    "M13.5 7.5 8 13a3.2 3.2 0 0 1-4.5-4.5l6-6a2.1 2.1 0 0 1 3 3L6.6 11.4a1 1 0 0 1-1.5-1.5L10 5",
  camera: "M2 5.5h2.6L6 3.5h4l1.4 2H14v7H2zM8 11a2.2 2.2 0 1 0 0-4.4A2.2 2.2 0 0 0 8 11",
  send: "M8 13V3.5M3.8 7.5 8 3.2l4.2 4.3",
  close: "m4 4 8 8m0-8-8 8",
  again: "M12.8 5.5A5.3 5.3 0 1 0 13.3 9M13 2.5v3.2H9.8",
  back: "M6 4 2.8 7.2 6 10.4M3 7.2h6.2a3.6 3.6 0 0 1 0 7.2H7",
  down: "m4.5 6.5 3.5 3.5 3.5-3.5",
  file: "M4 2.5h5L12 5.5v8H4zM9 2.5v3h3",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 4.8V8l2.2 1.6",
  warning: "M8 2.5 14 13.5H2zM8 6.7v3.2M8 11.7v.1",
  hand: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11M8 5v3.5M8 10.8v.1",
} as const;

/** A drawing by its name, in the colour of the text around it. */
export function Icon({ name }: { readonly name: keyof typeof PATHS }) {
  return (
    <svg class="co-icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The square of Stop, which is filled. */
export function StopIcon() {
  return (
    <svg class="co-icon co-icon-filled" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <rect x="4" y="4" width="8" height="8" rx="1.2" />
    </svg>
  );
}
