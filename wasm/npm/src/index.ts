// The entry for Node: nothing has to be awaited.

export * from './api.js';
export { version } from './version.js';
