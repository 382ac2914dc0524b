/** How lines look that begin, go on with or end a block. */

import type { BlockNode, ContainerNode, ProseNode } from "./nodes.ts";

/** A line of these only may still become something other than text. */
export const UNDECIDED_LINE = /^[\s\-=*_:|`~#+>\d.)$\\[\]]*$/;
export const RULE = /^(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$/;
export const ATX = /^(#{1,6})(?:[ \t]+|$)/;
export const SETEXT = /^(?:=+|-+)[ \t]*$/;
export const FENCE = /^(`{3,}(?!.*`)|~{3,})/;
export const BULLET = /^[*+-](?=[ \t]|$)/;
export const ORDERED = /^(\d{1,9})([.)])(?=[ \t]|$)/;
export const MATHS_START = /^(?:\$\$|\\\[)/;

export function isContainer(node: BlockNode | undefined): node is ContainerNode {
  return node !== undefined && "children" in node;
}

export function isParagraph(node: BlockNode): node is ProseNode {
  return node.kind === "prose" && node.role === "paragraph";
}

export function mathsEnd(source: string): string {
  return source.startsWith("$$") ? "$$" : "\\]";
}

/** What is displayed mathematics from its first to its last character, delimiters included. */
export function isWholeMaths(source: string): boolean {
  const text = source.trimEnd();
  return text.length > 4 && MATHS_START.test(text) && text.endsWith(mathsEnd(text));
}
