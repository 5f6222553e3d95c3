// The entry `evenkeel/protocol` for Node.

export { EvenkeelError, Simulation, decode } from './protocol-api.js';
export type * from './protocol-api.js';
