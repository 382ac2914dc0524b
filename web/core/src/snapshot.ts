/**
 * A snapshot: all state at one number, as one event.
 *
 * Spec: docs/spec/content/reducer.md, "Snapshots".
 */

import { BlockState } from "./blockstate.ts";
import type { ConversationSnapshot, Message, TurnInfo } from "./events.ts";
import { END_MEMBERS, TERMINAL_STATUSES } from "./fields.ts";
import { equalJson } from "./json.ts";
import { MessageState } from "./messagestate.ts";
import { ConversationState } from "./state.ts";
import { TurnState } from "./turnstate.ts";
import { type Json, type JsonObject, withMembers } from "./values.ts";

/**
 * Returns the state that `event` holds, whatever was before.
 *
 * `previous` is what the receiver held. It decides nothing: a message or block that is the same in
 * both is the same object, so that a view which resynchronises draws only what is new.
 */
export function loadSnapshot(
  event: ConversationSnapshot,
  previous: ConversationState,
): ConversationState {
  const infos = new Map(event.turns.map((info) => [info.id, info]));
  let state = ConversationState.empty(
    event.conversation_id ?? "",
    event.seq ?? 0,
    event.more_before ?? null,
  );
  for (const message of event.messages) {
    const info = infos.get(message.id);
    const known = previous.message(message.id);
    if (!TERMINAL_STATUSES.has(message.status)) {
      const turn = loadTurn(message, info, event.open_block_ids, known);
      state = state.withStarted(sameTurn(turn, known?.turn) ?? turn);
    } else {
      const turn =
        info === undefined ? undefined : loadTurn(message, info, event.open_block_ids, known);
      state = state.withFinished(
        sameFinished(message, turn, known) ?? finishedMessage(message, turn, known),
      );
    }
  }
  return state;
}

function finishedMessage(
  message: Message,
  turn: TurnState | undefined,
  known: MessageState | undefined,
): MessageState {
  if (turn !== undefined) return MessageState.ofMessage(message, turn);
  const blocks = known === undefined ? undefined : loadBlocks(message, new Set(), known);
  return MessageState.ofMessage(message, undefined, blocks);
}

function loadTurn(
  message: Message,
  info: TurnInfo | undefined,
  openBlockIds: readonly string[],
  known: MessageState | undefined,
): TurnState {
  // A block id is unique in its message only; the turn's own list says which block it is.
  const stillOpen = TERMINAL_STATUSES.has(message.status)
    ? new Set<string>()
    : new Set(info?.open_block_ids ?? openBlockIds);
  const { id, status, content: _content, ...envelope } = message;
  return TurnState.of({
    id,
    envelope: withMembers(envelope),
    status,
    blocks: loadBlocks(message, stillOpen, known),
    request: info?.request,
    ended: endOf(info),
  });
}

function loadBlocks(
  message: Message,
  stillOpen: ReadonlySet<string>,
  known: MessageState | undefined,
): BlockState[] {
  const before = new Map(known?.blocks.map((block) => [block.id, block]));
  return message.content.map((block) => {
    const next = BlockState.of(block, stillOpen.has(block.id));
    return sameBlock(next, before.get(block.id)) ?? next;
  });
}

function endOf(info: TurnInfo | undefined): JsonObject {
  const ended = withMembers();
  for (const name of END_MEMBERS) {
    if (info !== undefined && Object.hasOwn(info, name)) ended[name] = info[name] as Json;
  }
  if (info?.status === "interrupted") ended.reason = "interrupted";
  return ended;
}

/** Returns `known` if it is what `next` is, or what it was before more text came; else undefined. */
function sameBlock(next: BlockState, known: BlockState | undefined): BlockState | undefined {
  if (known === undefined || known.type !== next.type || known.isOpen !== next.isOpen) {
    return undefined;
  }
  if (next.field === undefined || next.length <= known.length || !known.isOpen) {
    return equalJson(known.block, next.block) ? known : undefined;
  }
  const text = next.block[next.field] as string;
  const grown = known.withText(text.slice(known.length));
  return equalJson(grown.block, next.block) ? grown : undefined;
}

function sameTurn(next: TurnState, known: TurnState | undefined): TurnState | undefined {
  const isSame =
    known !== undefined &&
    known.status === next.status &&
    known.blocks.length === next.blocks.length &&
    known.blocks.every((block, index) => block === next.blocks[index]) &&
    equalJson(known.envelope, next.envelope) &&
    equalJson(known.spelled(), next.spelled());
  return isSame ? known : undefined;
}

function sameFinished(
  message: Message,
  turn: TurnState | undefined,
  known: MessageState | undefined,
): MessageState | undefined {
  const isSame =
    known !== undefined &&
    equalJson(known.message, message) &&
    (turn === undefined
      ? known.turn === undefined
      : known.turn !== undefined && equalJson(known.turn.spelled(), turn.spelled()));
  return isSame ? known : undefined;
}
