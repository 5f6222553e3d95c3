import type { AllocationStats, ConsumerId, QueueRef, StrategyName } from './types.js';

/** The queues of each consumer, in the order in which all clients sort ids. `JSON.stringify` writes an object. */
export class Shares extends Map<ConsumerId, readonly QueueRef[]> {
  /** `{"c1":[…],"c2":[…]}` */
  toJSON(): Record<ConsumerId, readonly QueueRef[]> {
    return Object.fromEntries(this);
  }
}

/** What wasm answers. */
export interface AllocationText {
  readonly strategy: StrategyName;
  readonly byConsumer: Readonly<Record<ConsumerId, readonly QueueRef[]>>;
  readonly stats: AllocationStats;
}

/** Who gets what of all topics. */
export class Allocation {
  /** The strategy that was applied. */
  readonly strategy: StrategyName;
  /** The queues of each consumer. As JSON it is an object: `{"c1":[{"topic":…,"broker":…,"id":0}],…}`. */
  readonly byConsumer: ReadonlyMap<ConsumerId, readonly QueueRef[]>;
  /** How even it is. */
  readonly stats: AllocationStats;

  /** @internal */
  constructor(text: AllocationText) {
    this.strategy = text.strategy;
    this.stats = text.stats;
    // Objects list keys that look like numbers first. Strings compare by UTF-16 unit, here as in Java.
    const entries = Object.entries(text.byConsumer);
    this.byConsumer = new Shares(entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }

  /** The consumers that own a queue: none, one, or several if something is wrong. */
  ownersOf(queue: QueueRef): readonly ConsumerId[] {
    const { topic, broker, id } = queue;
    const has = (queues: readonly QueueRef[]) =>
      queues.some((other) => other.id === id && other.broker === broker && other.topic === topic);
    return [...this.byConsumer].filter(([, queues]) => has(queues)).map(([consumer]) => consumer);
  }
}
