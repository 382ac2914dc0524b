/** Functional languages. */

import { clojure } from "@codemirror/legacy-modes/mode/clojure";
import { commonLisp } from "@codemirror/legacy-modes/mode/commonlisp";
import { haskell } from "@codemirror/legacy-modes/mode/haskell";
import { julia } from "@codemirror/legacy-modes/mode/julia";
import { fSharp, oCaml } from "@codemirror/legacy-modes/mode/mllike";
import { scheme } from "@codemirror/legacy-modes/mode/scheme";
import type { StreamParser } from "@codemirror/streamparser";

export const modes: Readonly<Record<string, StreamParser<unknown>>> = {
  clojure,
  fsharp: fSharp,
  haskell,
  julia,
  lisp: commonLisp,
  ocaml: oCaml,
  scheme,
};
