/** Languages of the web. */

import { css, less, sCSS } from "@codemirror/legacy-modes/mode/css";
import { javascript, json, typescript } from "@codemirror/legacy-modes/mode/javascript";
import { html, xml } from "@codemirror/legacy-modes/mode/xml";
import type { StreamParser } from "@codemirror/streamparser";

export const modes: Readonly<Record<string, StreamParser<unknown>>> = {
  css,
  html,
  javascript,
  json,
  less,
  scss: sCSS,
  typescript,
  xml,
};
