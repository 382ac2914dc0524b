/**
 * What the protocol forbids, as one error with a stable code.
 *
 * Codes: docs/spec/error-codes.md. The sentence is for people and never part of the contract.
 */

/** A value, a text or an event that was refused; nothing changed. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
  /** Stable snake_case machine code. */
  readonly code: string;
  /** One sentence for people; it never quotes what was refused. */
  readonly detail: string;
  /** JSON Pointer (RFC 6901) to the offending value, where one is known; the root is "". */
  readonly pointer?: string;

  constructor(code: string, detail: string, pointer?: string) {
    super(pointer === undefined ? `${code}: ${detail}` : `${code} at ${pointer || "/"}: ${detail}`);
    this.code = code;
    this.detail = detail;
    if (pointer !== undefined) this.pointer = pointer;
  }
}
