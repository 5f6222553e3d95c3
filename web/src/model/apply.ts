/** The group after the changes, for the pictures. What moves is the engine's to say; this is only who and what is there. */
import type { Change, Snapshot } from '../types';

export interface After {
  snapshot: Snapshot;
  /** Whether ids or leavers had to be made up. */
  assumed: boolean;
}

/** Ids not known yet are taken to sort last, leavers not known to be the last ones. */
export function apply(snapshot: Snapshot, changes: readonly Change[]): After {
  return changes.reduce<After>((after, change) => step(after, change), { snapshot, assumed: false });
}

function step({ snapshot, assumed }: After, change: Change): After {
  switch (change.kind) {
    case 'add':
      if ('ids' in change) return { snapshot: join(snapshot, change.ids), assumed };
      return { snapshot: join(snapshot, madeUpIds(snapshot, change.count)), assumed: true };
    case 'remove':
      if ('ids' in change) return { snapshot: leave(snapshot, change.ids), assumed };
      return { snapshot: leave(snapshot, sortedIds(snapshot).slice(-change.count)), assumed: true };
    case 'queues':
      return { snapshot: withQueues(snapshot, change), assumed };
    case 'dropBroker': {
      const topics = snapshot.topics.map(({ topic, brokers }) => ({
        topic,
        brokers: brokers.filter(({ broker }) => broker !== change.broker),
      }));
      return { snapshot: { ...snapshot, topics }, assumed };
    }
    case 'permissionLost': {
      const gone = (topic: string, broker: string) => broker === change.broker && (change.topic ?? topic) === topic;
      const topics = snapshot.topics.map(({ topic, brokers }) => ({
        topic,
        brokers: brokers.map((one) => (gone(topic, one.broker) ? { ...one, readable: false } : one)),
      }));
      return { snapshot: { ...snapshot, topics }, assumed };
    }
    case 'strategy':
      return { snapshot: { ...snapshot, strategy: change.to }, assumed };
    case 'roll':
      return rolled(snapshot, change.ids, assumed);
  }
}

function rolled(snapshot: Snapshot, ids: 'stable' | 'new' | readonly string[], assumed: boolean): After {
  if (ids === 'stable') return { snapshot, assumed };
  const isMadeUp = ids === 'new';
  const named = isMadeUp ? madeUpIds(EMPTY_IDS, snapshot.consumers.length) : ids;
  return { snapshot: { ...snapshot, consumers: named.map((id) => ({ id })) }, assumed: assumed || isMadeUp };
}

const EMPTY_IDS: Pick<Snapshot, 'consumers'> = { consumers: [] };

function join(snapshot: Snapshot, ids: readonly string[]): Snapshot {
  return { ...snapshot, consumers: [...snapshot.consumers, ...ids.map((id) => ({ id }))] };
}

/** Of two processes with one id, one leaves. */
function leave(snapshot: Snapshot, ids: readonly string[]): Snapshot {
  const leaving = [...ids];
  const consumers = snapshot.consumers.filter(({ id }) => {
    const at = leaving.indexOf(id);
    if (at >= 0) leaving.splice(at, 1);
    return at < 0;
  });
  return { ...snapshot, consumers };
}

function withQueues(snapshot: Snapshot, change: Extract<Change, { kind: 'queues' }>): Snapshot {
  const { topic, broker, readQueues } = change;
  const changed = { broker, readQueues };
  const topics = snapshot.topics.map((t) => (t.topic === topic ? { ...t, brokers: replaced(t.brokers, changed) } : t));
  if (!topics.some((t) => t.topic === topic)) topics.push({ topic, brokers: [changed] });
  return { ...snapshot, topics };
}

function replaced(
  brokers: Snapshot['topics'][number]['brokers'],
  changed: { broker: string; readQueues: number },
): Snapshot['topics'][number]['brokers'] {
  if (!brokers.some(({ broker }) => broker === changed.broker)) return [...brokers, changed];
  return brokers.map((b) => (b.broker === changed.broker ? changed : b));
}

function sortedIds(snapshot: Pick<Snapshot, 'consumers'>): string[] {
  return snapshot.consumers.map(({ id }) => id).sort();
}

/** The tilde is the last printable ASCII character, so these sort behind every id in use. */
function madeUpIds(snapshot: Pick<Snapshot, 'consumers'>, count: number): string[] {
  const taken = new Set(snapshot.consumers.map(({ id }) => id));
  const width = String(count).length;
  const ids: string[] = [];
  for (let n = 1; ids.length < count; n += 1) {
    const id = `~new-${String(n).padStart(width, '0')}`;
    if (!taken.has(id)) ids.push(id);
  }
  return ids;
}
