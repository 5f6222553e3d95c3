/**
 * What an {@link EvenkeelError} is about. Stable: code may decide by it.
 *
 * | code | |
 * |---|---|
 * | `EMPTY_QUEUES` | there is no queue that can be read |
 * | `EMPTY_CONSUMERS` | there is nobody in the group |
 * | `UNKNOWN_CONSUMER` | someone is named who is not in the group |
 * | `NO_ROOM` | no machine room is known for a broker or a consumer |
 * | `BAD_STRATEGY` | there is no such strategy, or its settings (or the options of a plan) do not fit |
 * | `TOO_LARGE` | more than is computed, or than fits into a link |
 * | `BAD_LINK` | a link to the planner cannot be read |
 * | `BAD_SNAPSHOT` | a snapshot cannot be read |
 * | `BAD_CHANGE` | a change does not fit the group |
 * | `NOT_SHARED` | the group broadcasts or pops, so there is nothing to plan |
 * | `BAD_INPUT` | anything else that was given cannot be read |
 * | `NOT_READY` | `evenkeel/web` only: `init()` has not ended yet |
 * | `ABORTED` | the wasm code stopped in the middle, which is a fault of ours or a lack of memory; the next call works |
 */
export type ErrorCode =
  | 'EMPTY_QUEUES'
  | 'EMPTY_CONSUMERS'
  | 'UNKNOWN_CONSUMER'
  | 'NO_ROOM'
  | 'BAD_STRATEGY'
  | 'TOO_LARGE'
  | 'BAD_LINK'
  | 'BAD_SNAPSHOT'
  | 'BAD_CHANGE'
  | 'NOT_SHARED'
  | 'BAD_INPUT'
  | 'NOT_READY'
  | 'ABORTED';

/** Where an error lies, and what to do about it. */
export interface ErrorDetails {
  /** Where in the input, such as `topics[2].brokers[0].readQueues`. */
  readonly field?: string;
  /** The message in Chinese, in simplified characters; left out if it is not translated. */
  readonly zh?: string;
  /** What to do about it. */
  readonly hint?: string;
}

/** Every error of this package. Compare `code`: `instanceof` is false between its ESM and its CommonJS form. */
export class EvenkeelError extends Error {
  override readonly name = 'EvenkeelError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}
