// What both entries of `evenkeel/protocol` export.

import * as glue from './glue/protocol.js';
import { Border, toText } from './border.js';
import { EvenkeelError } from './errors.js';
import { protocolOnDemand } from './on-demand.js';
import type { SimulationInput, SimulationOutput, SimulationSettings } from './simulation-types.js';

export { EvenkeelError, type ErrorCode, type ErrorDetails } from './errors.js';
export type * from './simulation-types.js';
export type { ConsumerId, QueueRef } from './types.js';

/** @internal */
export const protocol = new Border(glue, protocolOnDemand);

/** What bytes are; `body NAME` is a JSON body of the Java class NAME, such as `body TopicRouteData`. */
export type DecodeKind = 'frame' | 'message' | 'properties' | 'msgid' | `body ${string}`;

/** What `evenkeel decode KIND` prints for one line. Whole numbers beyond 2^53 are decimal strings. */
export interface Decoded {
  readonly frames?: readonly unknown[];
  readonly messages?: readonly unknown[];
  readonly value?: unknown;
  readonly properties?: Readonly<Record<string, string>>;
  readonly offsetId?: unknown;
  readonly uniqueKey?: unknown;
  /** What could not be read; what stands before it could be. */
  readonly error?: { readonly kind: string; readonly at: number; readonly text: string };
}

/**
 * Bytes of the RocketMQ protocol as people read them. Text is hexadecimal digits (an id for `msgid`), or Base64 if the
 * options say so. Bad bytes are no exception but an `error` in the answer.
 *
 * @throws EvenkeelError `BAD_INPUT` if there is no such kind
 */
export function decode(kind: DecodeKind, data: Uint8Array | string, options: { base64?: boolean } = {}): Decoded {
  if (typeof data === 'string') {
    return protocol.ask(() => glue.inspectText(kind, data, options.base64 ?? false));
  }
  return protocol.ask(() => glue.decode(kind, data));
}

/**
 * The consumer's own state machine, moved step by step. It has no clock and no sockets: you give the time, and answer
 * its calls as its name servers and brokers would. Equal settings and inputs give equal outputs, here and natively.
 *
 * @example
 * const member = new Simulation({ group: 'pay', client: '10.0.0.1@7', nameServers: ['ns:9876'], subscriptions: [{ topic: 'orders' }] });
 * const [first] = member.step({ at: 0, type: 'start', wall: 1_700_000_000_000 });
 * // { type: 'call', to: 'ns:9876', asks: 'GET_ROUTEINFO_BY_TOPIC', … }
 */
export class Simulation {
  readonly #machine: glue.Simulation;
  readonly #generation: number;

  /** @throws EvenkeelError `BAD_INPUT` with the setting that is wrong */
  constructor(settings: SimulationSettings) {
    const text = toText(settings);
    this.#machine = protocol.run(() => new glue.Simulation(text));
    this.#generation = protocol.generation;
  }

  /**
   * Gives it one input, and returns what it wants done, in order. The last one is always `idle`.
   *
   * @throws EvenkeelError `BAD_INPUT` if the input is none; the machine has then not moved
   */
  step(input: SimulationInput): SimulationOutput[] {
    if (this.#generation !== protocol.generation) {
      throw new EvenkeelError('ABORTED', 'this simulation was lost when the wasm code stopped', {
        hint: 'start a new one and repeat its inputs',
      });
    }
    const text = toText(input);
    return protocol.ask(() => this.#machine.step(text));
  }
}
