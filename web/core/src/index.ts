/** The public surface of `@blockwire/core`. */

export { AppendLog } from "./appendlog.ts";
export { BlockState } from "./blockstate.ts";
export { decodeEvent } from "./codec.ts";
export { ProtocolError } from "./errors.ts";
export type * from "./events.ts";
export { DEPTH_MAX, decodeJson, decodeJsonBytes, encodeJson, equalJson } from "./json.ts";
export { checkKeys, isKey } from "./keys.ts";
export { MessageState, messageState } from "./messagestate.ts";
export { countChars, isCode, isId, isName } from "./names.ts";
export { advance, apply } from "./reducer.ts";
export { ConversationState, emptyState } from "./state.ts";
export { TurnState } from "./turnstate.ts";
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
