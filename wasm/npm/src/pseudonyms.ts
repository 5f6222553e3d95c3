// A group and changes to it under pseudonyms that fit together.

import { EvenkeelError } from './errors.js';
import type { Change, ConsumerId, Snapshot, Strategy } from './types.js';

/** Redacts a snapshot; entries keep their places. */
type Redact = (snapshot: Snapshot) => Snapshot;

/** The same group and changes, with pseudonyms for all names. */
export function hidden(snapshot: Snapshot, changes: readonly Change[], redact: Redact) {
  // The group with everything that the changes name: so pseudonyms sort as all these names did.
  const ids = changes.flatMap((change) => idsOf(change) ?? []);
  const consumers = [...new Set(ids)].filter((id) => snapshot.consumers.every((consumer) => consumer.id !== id));
  const topics = snapshot.topics.map((seen) => ({ ...seen, brokers: [...seen.brokers] }));
  for (const change of changes) {
    if (change.kind !== 'queues') continue;
    let seen = topics.find(({ topic }) => topic === change.topic);
    if (!seen) topics.push((seen = { topic: change.topic, brokers: [] }));
    if (seen.brokers.every(({ broker }) => broker !== change.broker)) {
      seen.brokers.push({ broker: change.broker, readQueues: 0 });
    }
  }
  const whole = { ...snapshot, topics, consumers: [...snapshot.consumers, ...consumers.map((id) => ({ id }))] };
  const other = redact(whole);

  const names = { consumers: new Map<string, string>(), topics: new Map<string, string>(), brokers: new Map<string, string>() };
  whole.consumers.forEach(({ id }, at) => names.consumers.set(id, other.consumers[at]?.id ?? id));
  whole.topics.forEach(({ topic, brokers }, at) => {
    names.topics.set(topic, other.topics[at]?.topic ?? topic);
    brokers.forEach(({ broker }, place) => names.brokers.set(broker, other.topics[at]?.brokers[place]?.broker ?? broker));
  });
  const shown: Snapshot = {
    ...other,
    consumers: other.consumers.slice(0, snapshot.consumers.length),
    topics: other.topics
      .slice(0, snapshot.topics.length)
      .map((seen, at) => ({ ...seen, brokers: seen.brokers.slice(0, snapshot.topics[at]?.brokers.length) })),
  };
  return { snapshot: shown, changes: changes.map((change) => renamed(change, names)) };
}

/** Whether a strategy has rooms or lists: names that stand in its settings. */
export function hasNames(strategy: Strategy): boolean {
  return typeof strategy === 'object' && Object.values(strategy).some((value) => typeof value === 'object');
}

function idsOf(change: Change): readonly ConsumerId[] | undefined {
  return 'ids' in change && typeof change.ids !== 'string' ? change.ids : undefined;
}

interface Names {
  readonly consumers: ReadonlyMap<string, string>;
  readonly topics: ReadonlyMap<string, string>;
  readonly brokers: ReadonlyMap<string, string>;
}

function renamed(change: Change, names: Names): Change {
  // A name that the group does not have stays nobody's.
  const name = (of: ReadonlyMap<string, string>, what: string) => of.get(what) ?? 'unknown';
  const ids = idsOf(change);
  if (ids) return { ...change, ids: ids.map((id) => name(names.consumers, id)) } as Change;
  switch (change.kind) {
    case 'queues':
      return { ...change, topic: name(names.topics, change.topic), broker: name(names.brokers, change.broker) };
    case 'dropBroker':
      return { ...change, broker: name(names.brokers, change.broker) };
    case 'permissionLost':
      return {
        ...change,
        broker: name(names.brokers, change.broker),
        ...(change.topic === undefined ? {} : { topic: name(names.topics, change.topic) }),
      };
    case 'strategy':
      if (hasNames(change.to)) {
        throw new EvenkeelError('BAD_CHANGE', 'a strategy with lists of names cannot be hidden in a change', {
          hint: 'share the snapshot with that strategy instead',
        });
      }
      return change;
    default:
      return change;
  }
}
