import { setData } from "../platform/dom.ts";

/**
 * Pictures of controls and states, drawn as lines on a grid of 16. They say nothing to a screen
 * reader: whatever has one has words beside it.
 */
const PATHS = {
  copy: "M5.5 5.5V3.2c0-.7.5-1.2 1.2-1.2h6.1c.7 0 1.2.5 1.2 1.2v6.1c0 .7-.5 1.2-1.2 1.2h-2.3M3.2 5.5h6.1c.7 0 1.2.5 1.2 1.2v6.1c0 .7-.5 1.2-1.2 1.2H3.2c-.7 0-1.2-.5-1.2-1.2V6.7c0-.7.5-1.2 1.2-1.2z",
  markdown: "M1.5 4h13v8h-13zM4 10V6.2l2 2.3 2-2.3V10M11.3 6v3.8M9.8 8.4l1.5 1.5 1.5-1.5",
  retry: "M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 1.8v3h-3",
  fork: "M4.5 5.5v5M4.5 5.5a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM4.5 13.9a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM11.5 5.5a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM11.5 5.5c0 3-3.5 2.5-6 4",
  download: "M8 2v8M4.8 7 8 10.2 11.2 7M2.5 13.5h11",
  file: "M4 1.8h5.2L12.5 5v9.2H4zM9 1.8V5.2h3.5",
  chevron: "M6 3.5 10.5 8 6 12.5",
  pending: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11z",
  running: "M8 2.5A5.5 5.5 0 1 1 2.5 8",
  completed: "M3 8.5 6.5 12 13 4.5",
  failed: "M4 4l8 8M12 4l-8 8",
  cancelled: "M4 4h8v8H4z",
  warning: "M8 2 14.5 13.5h-13zM8 6.3v3.4M8 11.6v.2",
  info: "M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM8 7.3v3.9M8 4.9v.2",
  speech: "M2.5 6v4h2.7L8.5 13V3L5.2 6zM11 5.7a3.3 3.3 0 0 1 0 4.6M12.9 3.8a6 6 0 0 1 0 8.4",
  unknown: "M2.5 2.5h11v11h-11zM6.2 6.3a1.8 1.8 0 1 1 2.6 1.6c-.5.3-.8.6-.8 1.2M8 11.2v.2",
  question:
    "M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM6.2 6.3a1.8 1.8 0 1 1 2.6 1.6c-.5.3-.8.6-.8 1.2M8 11.2v.2",
} as const;

/** Names of the pictures. */
export type IconName = keyof typeof PATHS;

const SVG = "http://www.w3.org/2000/svg";

/** Makes a picture, in the colour of the text around it. */
export function icon(name: IconName): SVGSVGElement {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("class", "bk-icon");
  picture.setAttribute("viewBox", "0 0 16 16");
  picture.setAttribute("aria-hidden", "true");
  setData(picture, "icon", name);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  picture.appendChild(path);
  return picture;
}

/** Shows another picture in the same element. */
export function setIcon(picture: SVGSVGElement, name: IconName): void {
  if (picture.dataset.icon === name) return;
  setData(picture, "icon", name);
  picture.firstElementChild?.setAttribute("d", PATHS[name]);
}
