// What the entries for pages have instead of on-demand.ts: there, `init` has to be called.

export const plannerOnDemand: (() => WebAssembly.Module) | undefined = undefined;
export const protocolOnDemand: (() => WebAssembly.Module) | undefined = undefined;
