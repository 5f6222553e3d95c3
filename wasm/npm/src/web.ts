// The entry for pages and bundlers: nothing of Node in it, and the wasm code comes when `init` is called.

import { initOf, type WasmSource } from './load.js';
import { planner } from './planner.js';
import { plannerFile } from './wasm-file.js';

export * from './api.js';
export { version } from './version.js';
export type { WasmSource } from './load.js';

/**
 * Makes the package ready. Without a source it fetches `evenkeel.wasm` from beside its own code. Call it once, await it,
 * then use everything else; further calls wait for the first one. If it fails, it can be called again.
 *
 * @throws EvenkeelError `NOT_READY`, with the reason as its `cause`
 */
export const init: (source?: WasmSource | PromiseLike<WasmSource>) => Promise<void> = initOf(planner, plannerFile);

export default init;
