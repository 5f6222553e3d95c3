/** Where the planner's wasm file lies: beside the code. */
export function plannerFile(): URL {
  return new URL('./evenkeel.wasm', import.meta.url);
}

/** The same of the protocol's. */
export function protocolFile(): URL {
  return new URL('./protocol.wasm', import.meta.url);
}
