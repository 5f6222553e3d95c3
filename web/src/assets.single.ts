/** Worker and wasm inside the page itself: browsers read neither from a file. */
import Inline from './worker/worker.ts?worker&inline';
import wasmUrl from 'evenkeel/evenkeel.wasm?url&inline';

export const wasm: Uint8Array<ArrayBuffer> = Uint8Array.from(atob(wasmUrl.slice(wasmUrl.indexOf(',') + 1)), (c) =>
  c.charCodeAt(0),
);

export function makeWorker(): Worker {
  return new Inline({ name: 'evenkeel' });
}
