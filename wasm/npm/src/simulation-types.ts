import type { ConsumerId, QueueRef } from './types.js';

/** Milliseconds; beyond 2^53 as a bigint or a decimal string. */
export type Millis = number | bigint | string;

/** A command of the remoting protocol. Inputs may leave out all but the code, and give the body as `text`. */
export interface SimulatedCommand {
  readonly code: number;
  readonly opaque?: number | null;
  readonly remark?: string | null;
  readonly extFields?: Readonly<Record<string, string | number>> | null;
  /** Hexadecimal digits. */
  readonly body?: string | null;
  /** The body as text, instead of `body`. */
  readonly text?: string;
  readonly [other: string]: unknown;
}

export interface SimulationSettings {
  readonly group: string;
  readonly client: ConsumerId;
  readonly nameServers: readonly string[];
  readonly subscriptions: ReadonlyArray<{ readonly topic: string; readonly tags?: string }>;
  /** A strategy by name: `avg`, `circle`, `hash`, `hash:20`, `draft`. Default `avg`. */
  readonly strategy?: string;
  readonly startFrom?: 'first' | 'last';
  /** Whether members share the queues, or each reads all of them. Default `clustering`. */
  readonly model?: 'clustering' | 'broadcasting';
  /** Queues are worked on under their locks, one delivery after the other. Default false. */
  readonly orderly?: boolean;
  /** Which name server and brokers it asks first. Default 1. */
  readonly seed?: number;
  /** Numeric settings by their names, times in milliseconds: `{ rebalance_interval: 20000 }`. */
  readonly options?: Readonly<Record<string, number>>;
}

/** How far a queue was read: the first offset that is not done. */
export interface SimulatedOffset {
  readonly queue: QueueRef;
  readonly offset: number | bigint | string;
}

/** A message delivery's name. */
export interface SimulatedTicket {
  readonly epoch: number | string;
  readonly number: number | string;
}

/** One thing that happens, at a time that does not go back. */
export type SimulationInput = { readonly at: Millis } & (
  | { readonly type: 'start'; /** Unix time in ms. */ readonly wall: Millis }
  | { readonly type: 'tick' }
  | { /** Broadcasting: what the offset file has; before the start. */ readonly type: 'localOffsets'; readonly offsets: readonly SimulatedOffset[] }
  | { /** A `save` has ended. */ readonly type: 'saved'; /** Why it failed, if it did. */ readonly failed?: string }
  | { readonly type: 'reply'; readonly call: number | string; readonly command: SimulatedCommand }
  | { readonly type: 'reply'; readonly call: number | string; readonly lost: string }
  | { readonly type: 'reply'; readonly call: number | string; readonly expired: Millis }
  | { readonly type: 'peer'; readonly from: string; readonly command: SimulatedCommand }
  | { readonly type: 'link'; readonly address: string; readonly up: boolean }
  | { readonly type: 'outcome'; readonly ticket: SimulatedTicket; readonly outcome: 'done' | 'putBack' }
  | {
      readonly type: 'outcome';
      readonly ticket: SimulatedTicket;
      readonly outcome: 'retry';
      readonly done?: number;
      readonly delayLevel?: number;
    }
  | { readonly type: 'subscribe'; readonly topic: string; readonly tags?: string }
  | { readonly type: 'unsubscribe'; readonly topic: string }
  | { readonly type: 'quiet'; readonly on: boolean }
  | { readonly type: 'nameServers'; readonly addresses: readonly string[] }
  | { readonly type: 'stop'; /** Milliseconds to wait for handlers. */ readonly grace: Millis }
);

/** One thing that the consumer wants done, or tells. */
export type SimulationOutput =
  | {
      readonly type: 'call';
      readonly call: number | string;
      readonly to: string;
      /** The request's name in the protocol, such as `GET_ROUTEINFO_BY_TOPIC`. */
      readonly asks: string | null;
      readonly command: SimulatedCommand;
      readonly deadline: number | string;
    }
  | { readonly type: 'answer'; readonly to: string; readonly command: SimulatedCommand }
  | { readonly type: 'hangUp'; readonly address: string }
  | {
      /** Broadcasting: put these offsets, all there are, into the offset file, and tell with `saved`. */
      readonly type: 'save';
      readonly offsets: readonly SimulatedOffset[];
    }
  | {
      readonly type: 'deliver';
      readonly ticket: SimulatedTicket;
      readonly queue: QueueRef;
      readonly messages: ReadonlyArray<Readonly<Record<string, unknown>>>;
    }
  | { readonly type: 'event'; readonly event: string; readonly [detail: string]: unknown }
  | { readonly type: 'idle'; /** When to tick at the latest. */ readonly wake: number | string | null; readonly reason: string | null };
