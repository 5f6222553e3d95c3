// Node reads the wasm files, which lie beside this code, when they are first needed.

import { readFileSync } from 'node:fs';

export const plannerOnDemand: (() => WebAssembly.Module) | undefined = () =>
  new WebAssembly.Module(readFileSync(new URL('./evenkeel.wasm', import.meta.url)));

export const protocolOnDemand: (() => WebAssembly.Module) | undefined = () =>
  new WebAssembly.Module(readFileSync(new URL('./protocol.wasm', import.meta.url)));
