// The entry `evenkeel/protocol/web` for pages and bundlers.

import { initOf, type WasmSource } from './load.js';
import { protocol } from './protocol-api.js';
import { protocolFile } from './wasm-file.js';

export { EvenkeelError, Simulation, decode } from './protocol-api.js';
export type * from './protocol-api.js';
export type { WasmSource } from './load.js';

/** As `init` of `evenkeel/web`, for `protocol.wasm`. */
export const init: (source?: WasmSource | PromiseLike<WasmSource>) => Promise<void> = initOf(protocol, protocolFile);

export default init;
