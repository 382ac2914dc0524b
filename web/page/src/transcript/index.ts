/** The transcript: what the rest of the page needs of it. */
export type { FindController, FindStatus } from "./find.ts";
export {
  type ScrollPlace,
  Transcript,
  type TranscriptFeed,
  type TranscriptOptions,
  type TranscriptView,
} from "./Transcript.ts";
