/**
 * Types of what is on the wire, made by core/build/generate.mjs. Do not edit.
 *
 * schemas: ccf41080ca78130018a31363a8533427ee396a4159808949dad1e2f250be79bb
 * generator: 3b7130012f20275ec0b6ab048c4a3f47907c285605edc9322f68d03a40bdd64e
 * types: 852249915115a6df84b3d3f02550d032a5471ef06a50d6e0d7f304f54d704fe6
 */

import type { Block, Message, Request } from "../events.ts";
import type { Json, JsonObject } from "../values.ts";

export interface BlockAttachment {
  id: string;
  type: "attachment";
  provider_data?: Json;
  attachment_id: string;
  name: string;
  media_type: string;
}

export interface BlockCode {
  id: string;
  type: "code";
  provider_data?: Json;
  text: string;
  language?: string;
}

export interface BlockError {
  id: string;
  type: "error";
  provider_data?: Json;
  code: string;
  message: string;
  retryable?: boolean;
}

export interface BlockNotice {
  id: string;
  type: "notice";
  provider_data?: Json;
  code: string;
  message: string;
}

export interface BlockProse {
  id: string;
  type: "prose";
  provider_data?: Json;
  markdown: string;
}

export interface BlockReasoning {
  id: string;
  type: "reasoning";
  provider_data?: Json;
  text: string;
  visibility?: "private" | "visible";
}

export interface BlockSpeech {
  id: string;
  type: "speech";
  provider_data?: Json;
  text: string;
}

export interface BlockTool {
  id: string;
  type: "tool";
  provider_data?: Json;
  tool: string;
  status: "pending" | "running" | "completed" | "failed" | "cancelled";
  input?: Json;
  output?: Json;
  error?: Json;
  input_json?: string;
  output_json?: string;
  error_json?: string;
  started_at?: number;
  completed_at?: number;
  attachments?: string[];
}

export interface EventContentBlockCompleted {
  type: "content.block.completed";
  conversation_id?: string;
  seq?: number;
  prev_seq?: number;
  ts?: number;
  turn_id: string;
  block_id: string;
  block?: Block;
  provider_data?: Json;
}

export interface EventContentBlockDelta {
  type: "content.block.delta";
  conversation_id?: string;
  seq?: number;
  prev_seq?: number;
  ts?: number;
  turn_id: string;
  block_id: string;
  field: string;
  text: string;
}

export interface EventContentBlockStarted {
  type: "content.block.started";
  conversation_id?: string;
  seq?: number;
  prev_seq?: number;
  ts?: number;
  turn_id: string;
  block: Block;
}

export interface EventContentBlockUpdated {
  type: "content.block.updated";
  conversation_id?: string;
  seq?: number;
  prev_seq?: number;
  ts?: number;
  turn_id: string;
  block_id: string;
  set: ToolChanges;
}

export interface EventConversationSnapshot {
  type: "conversation.snapshot";
  conversation_id?: string;
  seq?: number;
  prev_seq?: number;
  ts?: number;
  messages: Message[];
  turns: TurnInfo[];
  open_block_ids: string[];
  reset?: boolean;
  more_before?: string;
}

export interface EventMessageCreated {
  type: "message.created";
  conversation_id?: string;
  seq?: number;
  prev_seq?: number;
  ts?: number;
  message: Message;
}

export interface EventTurnCancelled {
  type: "turn.cancelled";
  conversation_id?: string;
  seq?: number;
  prev_seq?: number;
  ts?: number;
  turn_id: string;
  status: "cancelled";
  usage?: JsonObject;
  finish_reason?: string;
  reason?: string;
  error_code?: string;
  content?: never;
}

export interface EventTurnCompleted {
  type: "turn.completed";
  conversation_id?: string;
  seq?: number;
  prev_seq?: number;
  ts?: number;
  turn_id: string;
  status: "completed";
  usage?: JsonObject;
  finish_reason?: string;
  reason?: string;
  error_code?: string;
  content?: never;
}

export interface EventTurnFailed {
  type: "turn.failed";
  conversation_id?: string;
  seq?: number;
  prev_seq?: number;
  ts?: number;
  turn_id: string;
  status: "failed";
  usage?: JsonObject;
  finish_reason?: string;
  reason?: string;
  error_code?: string;
  content?: never;
}

export interface EventTurnResumed {
  type: "turn.resumed";
  conversation_id?: string;
  seq?: number;
  prev_seq?: number;
  ts?: number;
  turn_id: string;
}

export interface EventTurnStarted {
  type: "turn.started";
  conversation_id?: string;
  seq?: number;
  prev_seq?: number;
  ts?: number;
  turn_id: string;
  role: "assistant" | "developer" | "system" | "tool" | "user";
  created_at: number;
  model?: string;
  provider?: string;
  author?: string;
  metadata?: Json;
  metadata_json?: string;
}

export interface EventTurnSuspended {
  type: "turn.suspended";
  conversation_id?: string;
  seq?: number;
  prev_seq?: number;
  ts?: number;
  turn_id: string;
  request: Request;
}

export interface MessageMembers {
  id: string;
  role: "assistant" | "developer" | "system" | "tool" | "user";
  status: "cancelled" | "completed" | "failed" | "streaming" | "suspended";
  content: Block[];
  created_at: number;
  completed_at?: number;
  model?: string;
  provider?: string;
  author?: string;
  turn_id?: string;
  conversation_id?: string;
  usage?: JsonObject;
  metadata?: Json;
  metadata_json?: string;
}

export interface RequestMembers {
  id: string;
  kind: "question" | "approval";
  prompt: string;
  options?: Json;
  block_id?: string;
}

export interface ToolChanges {
  status?: "pending" | "running" | "completed" | "failed" | "cancelled";
  input?: Json;
  output?: Json;
  error?: Json;
  input_json?: string;
  output_json?: string;
  error_json?: string;
  started_at?: number;
  completed_at?: number;
  attachments?: string[];
  provider_data?: Json;
}

export interface TurnInfo {
  id: string;
  status?: string;
  finish_reason?: string;
  reason?: string;
  error_code?: string;
  request?: Request;
  open_block_ids?: string[];
}
