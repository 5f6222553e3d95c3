// The entry `evenkeel/parse`: what people paste.

export { parse } from './api.js';
export { EvenkeelError, type ErrorCode, type ErrorDetails } from './errors.js';
export type * from './types.js';
