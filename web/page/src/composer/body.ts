/** The body of a submit. Spec: docs/spec/gateway/turns.md, docs/spec/gateway/attachments.md. */

import type { Question } from "./types.ts";

/** A body of `POST .../turns`, made only of what the question holds: every attempt sends the same. */
export interface SubmitBody {
  content: string | { [name: string]: string }[];
  engine?: string;
  model?: string;
  if_last_turn?: string | null;
}

/** Return what asks `question`. */
export function submitBody(question: Question): SubmitBody {
  const body: SubmitBody = { content: contentOf(question) };
  if (question.engine !== null) body.engine = question.engine;
  if (question.model !== null) body.model = question.model;
  if (question.lastTurn !== undefined) body.if_last_turn = question.lastTurn;
  return body;
}

function contentOf(question: Question): SubmitBody["content"] {
  if (question.files.length === 0) return question.text;
  const blocks: { [name: string]: string }[] = [];
  if (question.text.trim() !== "") blocks.push({ type: "prose", markdown: question.text });
  for (const file of question.files) {
    blocks.push({
      type: "attachment",
      attachment_id: file.attachmentId,
      name: file.name,
      media_type: file.mediaType,
    });
  }
  return blocks;
}

/** Return how many bytes the body of `question` has. */
export function bodyBytes(question: Question): number {
  return new TextEncoder().encode(JSON.stringify(submitBody(question))).length;
}
