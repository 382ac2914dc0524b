/** Languages that are compiled, most of them with braces. */

import {
  c,
  cpp,
  csharp,
  dart,
  java,
  kotlin,
  objectiveC,
  scala,
} from "@codemirror/legacy-modes/mode/clike";
import { go } from "@codemirror/legacy-modes/mode/go";
import { rust } from "@codemirror/legacy-modes/mode/rust";
import { swift } from "@codemirror/legacy-modes/mode/swift";
import type { StreamParser } from "@codemirror/streamparser";

export const modes: Readonly<Record<string, StreamParser<unknown>>> = {
  c,
  cpp,
  csharp,
  dart,
  go,
  java,
  kotlin,
  objectivec: objectiveC,
  rust,
  scala,
  swift,
};
