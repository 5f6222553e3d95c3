// How pages and bundlers get the wasm code.

import type { Border } from './border.js';
import { EvenkeelError } from './errors.js';

/** The wasm code: where it lies, an answer that carries it, its bytes, or what was compiled already. */
export type WasmSource = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/** Makes a border ready, once: further calls wait for the first one, and after a failure it can be called again. */
export function initOf(border: Border, beside: () => URL) {
  let starting: Promise<void> | undefined;
  return async (source?: WasmSource | PromiseLike<WasmSource>): Promise<void> => {
    if (border.isReady) return;
    starting ??= load(source, beside)
      .then((module) => border.start(module))
      .catch((cause: unknown) => {
        starting = undefined;
        const why = cause instanceof Error ? cause.message : String(cause);
        const hint = "give its place or its bytes: init(new URL('./evenkeel.wasm', location.href))";
        throw new EvenkeelError('NOT_READY', `the wasm code cannot be loaded: ${why}`, { hint }, { cause });
      });
    await starting;
  };
}

async function load(source: WasmSource | PromiseLike<WasmSource> | undefined, beside: () => URL): Promise<WebAssembly.Module> {
  const given: unknown = (await source) ?? beside();
  if (given instanceof WebAssembly.Module) return given;
  if (given instanceof ArrayBuffer || ArrayBuffer.isView(given)) {
    return WebAssembly.compile(given as BufferSource);
  }
  const response = given instanceof Response ? given : await fetch(given as string | URL | Request);
  if (!response.ok) {
    throw new Error(`${response.url || String(given)} answered ${response.status}`);
  }
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/wasm') && typeof WebAssembly.compileStreaming === 'function') {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}
