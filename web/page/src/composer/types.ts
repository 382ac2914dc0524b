/**
 * What the composer knows, what can happen to it, and what it asks to be done.
 *
 * Spec: docs/spec/page/composer.md. Everything here is plain data: the machine (`machine.ts`)
 * decides, the runner (`runner.ts`) performs, the views show. Times are milliseconds of one clock
 * that the runner chooses; the machine only compares them.
 */

/** An error as the composer needs it: a refusal of the gateway, or `unreachable` with status 0. */
export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfterS: number | null;
}

/** A file that is uploaded: what a question needs to name it. */
export interface SentFile {
  readonly attachmentId: string;
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
}

export type FileStage = "waiting" | "uploading" | "done" | "failed";

/** A file of the draft. Its bytes are with the runner, under `localId`. */
export interface DraftFile {
  readonly localId: string;
  readonly name: string;
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
  readonly stage: FileStage;
  /** How much of it is there, 0 to 1. */
  readonly share: number;
  readonly attachmentId: string | null;
  readonly tries: number;
  /** Not before this time; null for at once. */
  readonly notBeforeMs: number | null;
  readonly fault: Fault | null;
}

/**
 * Where a question stands: to be sent; sent and not answered; in the gateway's line; taken by a
 * turn that was not seen yet; or refused because the conversation went on, so that a person decides.
 */
export type QuestionStage = "waiting" | "sent" | "queued" | "taken" | "undecided";

/** A question from the press of Send until its turn is seen. */
export interface Question {
  /** `Idempotency-Key`: made at the press, the same for every attempt. */
  readonly key: string;
  readonly text: string;
  readonly files: readonly SentFile[];
  readonly engine: string | null;
  readonly model: string | null;
  /** Id of the last turn when it was asked; null for none, undefined for "whatever it is". */
  readonly lastTurn: string | null | undefined;
  readonly stage: QuestionStage;
  readonly turnId: string | null;
  /** Place in line; 1 is next. */
  readonly position: number | null;
  /** Taken back before the gateway answered for it. */
  readonly isUnwanted: boolean;
  /** The gateway said once that it was handed back; a gateway that stops says so, too. */
  readonly isReturning: boolean;
  /** It was sent, and nobody knows whether it arrived. */
  readonly isDoubtful: boolean;
  /** So old that it is not asked again without a person. */
  readonly isStale: boolean;
  readonly askedAtMs: number;
}

/** A turn in line that was not asked here. */
export interface OtherQuestion {
  readonly turnId: string;
  readonly position: number;
  /** Null until it was read. */
  readonly text: string | null;
}

/** The turn that is not over. */
export interface Running {
  readonly turnId: string;
  readonly request: AskedRequest | null;
}

/** What a suspended turn waits for. */
export interface AskedRequest {
  readonly id: string;
  readonly prompt: string;
  /** Whether a text answers it; approvals and options are answered in the transcript. */
  readonly takesText: boolean;
}

/** An answer that is being written, apart from the draft. */
export interface Answering {
  readonly turnId: string;
  readonly requestId: string;
  readonly text: string;
  readonly isSending: boolean;
}

/** What is said above the input until it is dismissed or no longer so. */
export interface Notice {
  readonly kind:
    | "refused"
    | "handed-back"
    | "stop-failed"
    | "answer-failed"
    | "answered-elsewhere"
    | "files-failed"
    | "files-lost"
    | "arrived-already"
    | "gone";
  readonly fault: Fault | null;
  readonly count: number;
}

/** Why nothing is sent now. `untilMs` null: until somebody logged in. */
export interface Hold {
  readonly untilMs: number | null;
  readonly fault: Fault;
}

export type CreationStage = "none" | "sent" | "doubtful" | "looking";

export interface ComposerState {
  /** Null in a new conversation, until the first question or file needs one. */
  readonly conversationId: string | null;
  /** The conversation was made here, and nothing was asked in it yet. */
  readonly isEmptyOwn: boolean;
  /** Marks the conversation that is made here, to find it when the answer was lost. */
  readonly mark: string;
  readonly creation: CreationStage;
  readonly isGone: boolean;
  readonly text: string;
  readonly files: readonly DraftFile[];
  /** Send was pressed while files were on their way; it is done when they are there. */
  readonly wanted: Press | null;
  readonly engine: string | null;
  readonly model: string | null;
  readonly questions: readonly Question[];
  readonly others: readonly OtherQuestion[];
  readonly checking: readonly string[];
  /** When places in line are looked up again, if nobody tells of them. */
  readonly checkAtMs: number | null;
  /** A returned question that may have arrived: asked again unchanged, it keeps its key. */
  readonly doubtful: Question | null;
  readonly hold: Hold | null;
  readonly tries: number;
  readonly isLive: boolean;
  /** Turns in line, as the stream told last. */
  readonly lineIds: readonly string[];
  readonly running: Running | null;
  /** The turn that is being stopped. */
  readonly stoppingId: string | null;
  readonly answering: Answering | null;
  readonly notice: Notice | null;
  readonly wakeAtMs: number | null;
  readonly bounds: Bounds;
}

/** Bounds of the gateway; null where it told none. */
export interface Bounds {
  readonly bodyBytes: number | null;
  readonly attachmentBytes: number | null;
}

/** A press of Send. */
export interface Press {
  readonly key: string;
  readonly lastTurn: string | null | undefined;
}

/** A turn as submit, cancel and read answer it. */
export interface TurnAnswer {
  readonly id: string;
  readonly status: string;
  readonly durable: boolean;
  readonly position: number | null;
  /** Text of the question; null where the answer does not hold it. */
  readonly text: string | null;
}

export interface NewFile {
  readonly localId: string;
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
}

export type ComposerEvent =
  | { readonly type: "typed"; readonly text: string }
  | ({ readonly type: "send"; readonly withoutFiles: boolean } & Press)
  | { readonly type: "unwant" }
  | { readonly type: "take-back"; readonly key: string }
  | { readonly type: "cancel-other"; readonly turnId: string }
  | { readonly type: "send-anyway"; readonly key: string }
  | { readonly type: "stop" }
  | { readonly type: "choose"; readonly engine: string | null; readonly model: string | null }
  | { readonly type: "dismiss" }
  | { readonly type: "bounds"; readonly bounds: Bounds }
  | { readonly type: "files-added"; readonly files: readonly NewFile[] }
  | { readonly type: "file-removed"; readonly localId: string }
  | { readonly type: "file-retry"; readonly localId: string }
  | { readonly type: "file-progress"; readonly localId: string; readonly share: number }
  | { readonly type: "file-done"; readonly localId: string; readonly file: SentFile }
  | { readonly type: "file-failed"; readonly localId: string; readonly fault: Fault }
  | { readonly type: "created"; readonly conversationId: string }
  | { readonly type: "create-failed"; readonly fault: Fault }
  | { readonly type: "looked-up"; readonly conversationId: string | null }
  | { readonly type: "look-up-failed"; readonly fault: Fault }
  | { readonly type: "submitted"; readonly key: string; readonly turn: TurnAnswer }
  | { readonly type: "submit-failed"; readonly key: string; readonly fault: Fault }
  | { readonly type: "checked"; readonly turnId: string; readonly turn: TurnAnswer }
  | { readonly type: "check-failed"; readonly turnId: string; readonly fault: Fault }
  | { readonly type: "cancelled"; readonly turnId: string; readonly turn: TurnAnswer }
  | { readonly type: "cancel-failed"; readonly turnId: string; readonly fault: Fault }
  | { readonly type: "answer-open" }
  | { readonly type: "answer-close" }
  | { readonly type: "answer-typed"; readonly text: string }
  | { readonly type: "answer-send" }
  | { readonly type: "answered"; readonly requestId: string }
  | { readonly type: "answer-failed"; readonly requestId: string; readonly fault: Fault }
  | ({ readonly type: "feed" } & FeedView)
  | { readonly type: "take-over"; readonly text: string }
  | { readonly type: "detached" }
  | { readonly type: "logged-in" }
  | { readonly type: "try-now" }
  | { readonly type: "tick" };

/** A turn that left the line: `cancelled`, `stopping`, or the code of what refused its start. */
export interface LeftTurn {
  readonly turnId: string;
  readonly reason: string;
}

/** What the stream of the conversation shows now. */
export interface FeedView {
  readonly isLive: boolean;
  readonly isGone: boolean;
  readonly queued: readonly { readonly turnId: string; readonly position: number }[];
  readonly running: Running | null;
  /** Of the turns of our questions, those whose message is there. */
  readonly seenIds: readonly string[];
  /** Of the turns of our questions, those that left the line without a start, and why. */
  readonly left: readonly LeftTurn[];
}

export type Effect =
  | { readonly type: "create"; readonly mark: string }
  | { readonly type: "look-up"; readonly mark: string }
  | { readonly type: "delete"; readonly conversationId: string }
  | { readonly type: "submit"; readonly conversationId: string; readonly question: Question }
  | { readonly type: "cancel"; readonly turnId: string }
  | { readonly type: "check"; readonly turnId: string }
  | { readonly type: "upload"; readonly conversationId: string; readonly localId: string }
  | { readonly type: "drop-file"; readonly localId: string }
  | {
      readonly type: "answer";
      readonly turnId: string;
      readonly requestId: string;
      readonly text: string;
    }
  | { readonly type: "show"; readonly conversationId: string }
  | { readonly type: "login" }
  | { readonly type: "wake"; readonly atMs: number | null };
