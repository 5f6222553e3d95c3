// What the CommonJS forms of the entries for pages have instead of wasm-file.ts.

import { EvenkeelError } from './errors.js';

function unknown(): never {
  throw new EvenkeelError('BAD_INPUT', 'this form of the package does not know where its wasm file lies', {
    hint: 'give init() the place or the bytes of evenkeel/evenkeel.wasm',
  });
}

export const plannerFile: () => URL = unknown;
export const protocolFile: () => URL = unknown;
