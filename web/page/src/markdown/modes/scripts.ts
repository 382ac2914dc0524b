/** Languages of scripts and shells. */

import { lua } from "@codemirror/legacy-modes/mode/lua";
import { perl } from "@codemirror/legacy-modes/mode/perl";
import { powerShell } from "@codemirror/legacy-modes/mode/powershell";
import { python } from "@codemirror/legacy-modes/mode/python";
import { r } from "@codemirror/legacy-modes/mode/r";
import { ruby } from "@codemirror/legacy-modes/mode/ruby";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import type { StreamParser } from "@codemirror/streamparser";

export const modes: Readonly<Record<string, StreamParser<unknown>>> = {
  lua,
  perl,
  powershell: powerShell,
  python,
  r,
  ruby,
  shell,
};
