/** The public surface of `@blockwire/core`. */

export { type AccessChange, onAccess } from "./access.ts";
export { AppendLog } from "./appendlog.ts";
export { BlockState } from "./blockstate.ts";
export { newKey } from "./calls.ts";
export { decodeEvent } from "./codec.ts";
export { ProtocolError } from "./errors.ts";
export type * from "./events.ts";
export { type FailureDetails, GatewayError } from "./failures.ts";
export { ConversationFeed, type FeedStatus, type QueuedTurn } from "./feed.ts";
export { Gateway } from "./gateway.ts";
export type {
  BlockAttachment,
  BlockCode,
  BlockError,
  BlockNotice,
  BlockProse,
  BlockReasoning,
  BlockSpeech,
  BlockTool,
} from "./generated/content.ts";
export { CALL_MS_MAX, CALL_TRIES_MAX, type Query } from "./http.ts";
export { Hub, type HubConnection, type HubPort } from "./hub.ts";
export { IDLE_MS, STREAMS_MAX } from "./hubchannels.ts";
export { gatewayHubIo, type HubIo, type HubPage } from "./hubio.ts";
export type { FromHub, PlainError, PlainStatus, ToHub } from "./hubmessages.ts";
export { DEPTH_MAX, decodeJson, decodeJsonBytes, encodeJson, equalJson } from "./json.ts";
export { checkKeys, isKey } from "./keys.ts";
export {
  createOwnLink,
  DirectLink,
  type DirectLinkOptions,
  type LinkHandle,
  type LinkHandler,
  type LinkStatus,
  type StreamLink,
  TicketLink,
} from "./link.ts";
export { MessageState, messageState } from "./messagestate.ts";
export { type Frame, STREAM_CONVERSATIONS_MAX } from "./multiplex.ts";
export { countChars, isCode, isId, isName } from "./names.ts";
export {
  BLOCK_GAP,
  boundedText,
  plainText,
  type TextOptions,
  VALUE_CHARS_MAX,
  valueText,
} from "./projection.ts";
export {
  type Effect,
  PAUSE_MS_MAX,
  RESYNCS_MAX,
  RETRY_MS,
  SILENCE_MS,
  STREAM_EVENT_BYTES_MAX,
  type StreamHead,
  type StreamRequest,
  type StreamSource,
} from "./reconnecting.ts";
export { advance, apply } from "./reducer.ts";
export type * from "./requests.ts";
export type * from "./shapes.ts";
export {
  type PortListener,
  SharedLink,
  type SharedLinkOptions,
  type SharedPort,
} from "./sharedlink.ts";
export { EVENT_BYTES_MAX, type ServerSentEvent, SseDecoder } from "./sse.ts";
export { ConversationState, emptyState } from "./state.ts";
export type { Connect, StreamAnswer } from "./stream.ts";
export { Subscription, type SubscriptionOptions } from "./subscription.ts";
export { systemTiming, type Timing } from "./timing.ts";
export { canStreamFetch, documentVisibility, type Visibility } from "./transports.ts";
export { type TurnParts, TurnState } from "./turnstate.ts";
export type { UploadOptions } from "./upload.ts";
export { checkBlock, checkMessage } from "./validate.ts";
export {
  isObject,
  type Json,
  type JsonObject,
  JsonReal,
  member,
  memberNames,
  SAFE_INTEGER_MAX,
  withMembers,
} from "./values.ts";
