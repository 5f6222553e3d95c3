// The one place that calls wasm.

import { EvenkeelError, type ErrorCode } from './errors.js';

/** What wasm-bindgen writes around a wasm file. */
interface Glue {
  initSync(options: { module: WebAssembly.Module }): unknown;
  __wbg_reset_state(): void;
}

/** One wasm file and its instance in this copy of the package. */
export class Border {
  readonly #glue: Glue;
  #ready = false;
  #generation = 0;

  readonly #onDemand: (() => WebAssembly.Module) | undefined;

  /** With `onDemand` the code comes from there when it is first needed; without it, `start` has to be called. */
  constructor(glue: Glue, onDemand: (() => WebAssembly.Module) | undefined) {
    this.#glue = glue;
    this.#onDemand = onDemand;
  }

  get isReady(): boolean {
    return this.#ready;
  }

  /** Counts the instances: what belongs to an earlier one is lost. */
  get generation(): number {
    return this.#generation;
  }

  /** Gives it its code. The first one stays. */
  start(module: WebAssembly.Module): void {
    if (this.#ready) return;
    this.#glue.initSync({ module });
    this.#ready = true;
  }

  /** Asks wasm, and reads its answer. */
  ask<T>(question: () => string): T {
    return JSON.parse(this.run(question)) as T;
  }

  /** Runs code that calls wasm. Whatever it throws becomes an {@link EvenkeelError}. */
  run<T>(code: () => T): T {
    if (!this.#ready && this.#onDemand) this.start(this.#onDemand());
    if (!this.#ready) {
      throw new EvenkeelError('NOT_READY', 'evenkeel is not ready: `await init()` first');
    }
    try {
      return code();
    } catch (thrown) {
      throw typeof thrown === 'string' ? refusal(thrown) : this.#aborted(thrown);
    }
  }

  /** A trap, or the engine ran out of stack or memory in the middle: the instance may be in any state. */
  #aborted(cause: unknown): EvenkeelError {
    this.#generation += 1;
    this.#glue.__wbg_reset_state();
    const why = cause instanceof Error ? cause.message : String(cause);
    const hint = 'please report the input that does this, unless it is a very large one';
    return new EvenkeelError('ABORTED', `the wasm code stopped: ${why}`, { hint }, { cause });
  }
}

interface Refusal {
  readonly code: ErrorCode;
  readonly field: string | null;
  readonly text: string;
  readonly zh: string | null;
  readonly hint: string | null;
}

function refusal(text: string): EvenkeelError {
  const { code, field, text: why, zh, hint } = JSON.parse(text) as Refusal;
  const details = {
    ...(field === null ? {} : { field }),
    ...(zh === null ? {} : { zh: field === null ? zh : `${field}：${zh}` }),
    ...(hint === null ? {} : { hint }),
  };
  return new EvenkeelError(code, field === null ? why : `${field}: ${why}`, details);
}

/** A value as JSON text for wasm; a bigint as the text of its digits. */
export function toText(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, (_, entry: unknown) => (typeof entry === 'bigint' ? entry.toString() : entry));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EvenkeelError('BAD_INPUT', `the input cannot be written as JSON: ${why}`, {}, { cause });
  }
  return text ?? 'null';
}

/** The same for what may be left out. */
export function toTextIfAny(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : toText(value);
}
