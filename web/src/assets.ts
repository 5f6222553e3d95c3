/** Where the worker and the wasm come from, for the page on a server. `assets.single.ts` stands in for one file. */
import wasmUrl from 'evenkeel/evenkeel.wasm?url';

export const wasm: string = new URL(wasmUrl, document.baseURI).href;

export function makeWorker(): Worker {
  return new Worker(new URL('./worker/worker.ts', import.meta.url), { type: 'module', name: 'evenkeel' });
}
