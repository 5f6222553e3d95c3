/** Edits of a document: the group as it is, and the list of changes to try. */
import type { Change, Snapshot, StrategyName } from '../types';
import { byCodeUnit, strategyOf, type Doc, type Settings } from './doc';

type Broker = Snapshot['topics'][number]['brokers'][number];

// --- the changes to try -------------------------------------------------------------------------------------------

/** Members that join or leave, as the controls show them. */
export interface Membership {
  /** Ids that are known to join. */
  joining: readonly string[];
  /** So many more join whose ids are not known. */
  joiningUnknown: number;
  leaving: readonly string[];
  leavingUnknown: number;
}

export function membership(changes: readonly Change[]): Membership {
  const sum = { joining: [] as string[], joiningUnknown: 0, leaving: [] as string[], leavingUnknown: 0 };
  for (const change of changes) {
    if (change.kind === 'add') {
      if ('ids' in change) sum.joining.push(...change.ids);
      else sum.joiningUnknown += change.count;
    } else if (change.kind === 'remove') {
      if ('ids' in change) sum.leaving.push(...change.ids);
      else sum.leavingUnknown += change.count;
    }
  }
  return sum;
}

export function consumersAfter(doc: Doc): number {
  const { joining, joiningUnknown, leaving, leavingUnknown } = membership(doc.changes);
  return doc.snapshot.consumers.length + joining.length + joiningUnknown - leaving.length - leavingUnknown;
}

/** Sets how many members there are afterwards, and keeps the ids that are known as far as it can. */
export function setConsumersAfter(doc: Doc, count: number): Doc {
  const growth = Math.max(0, Math.min(Math.round(count), 100_000)) - doc.snapshot.consumers.length;
  const { joining, leaving } = membership(doc.changes);
  if (growth >= 0) {
    const ids = joining.slice(0, growth);
    return withMembership(doc, { joining: ids, joiningUnknown: growth - ids.length, leaving: [], leavingUnknown: 0 });
  }
  const ids = leaving.slice(0, -growth);
  return withMembership(doc, { joining: [], joiningUnknown: 0, leaving: ids, leavingUnknown: -growth - ids.length });
}

export function withMembership(doc: Doc, to: Membership): Doc {
  const changes: Change[] = [];
  if (to.leaving.length > 0) changes.push({ kind: 'remove', ids: to.leaving });
  if (to.leavingUnknown > 0) changes.push({ kind: 'remove', count: to.leavingUnknown });
  if (to.joining.length > 0) changes.push({ kind: 'add', ids: to.joining });
  if (to.joiningUnknown > 0) changes.push({ kind: 'add', count: to.joiningUnknown });
  changes.push(...doc.changes.filter(({ kind }) => kind !== 'add' && kind !== 'remove'));
  return { ...doc, changes };
}

/** Names the new members. Fewer names than new members leave the others unknown; more names mean more members. */
export function setJoining(doc: Doc, ids: readonly string[]): Doc {
  const { joining, joiningUnknown, leaving, leavingUnknown } = membership(doc.changes);
  const unknown = Math.max(0, joining.length + joiningUnknown - ids.length);
  return withMembership(doc, { joining: ids, joiningUnknown: unknown, leaving, leavingUnknown });
}

export function setQueuesAfter(doc: Doc, topic: string, broker: string, readQueues: number | null): Doc {
  const changes: Change[] = doc.changes.filter(
    (c) => !(c.kind === 'queues' && c.topic === topic && c.broker === broker),
  );
  const now = doc.snapshot.topics.find((t) => t.topic === topic)?.brokers.find((b) => b.broker === broker)?.readQueues;
  if (readQueues !== null && readQueues !== now) changes.push({ kind: 'queues', topic, broker, readQueues });
  return { ...doc, changes };
}

/** One queue more, or fewer, of every topic on every broker. */
export function growQueues(doc: Doc, by: number): Doc {
  let next = doc;
  for (const { topic, brokers } of doc.snapshot.topics) {
    for (const { broker, readQueues } of brokers) {
      const planned = doc.changes.find((c) => c.kind === 'queues' && c.topic === topic && c.broker === broker);
      const from = planned?.kind === 'queues' ? planned.readQueues : readQueues;
      next = setQueuesAfter(next, topic, broker, Math.max(0, from + by));
    }
  }
  return next;
}

export function toggleBroker(doc: Doc, broker: string): Doc {
  const changes: Change[] = doc.changes.filter((c) => !(c.kind === 'dropBroker' && c.broker === broker));
  if (changes.length === doc.changes.length) changes.push({ kind: 'dropBroker', broker });
  return { ...doc, changes };
}

/** All members change to another strategy; null for no such change. */
export function setStrategyAfter(doc: Doc, name: StrategyName | null): Doc {
  const changes: Change[] = doc.changes.filter((c) => c.kind !== 'strategy');
  const to = name && strategyOf(doc, name);
  if (to) changes.push({ kind: 'strategy', to });
  return { ...doc, changes };
}

export function setRoll(doc: Doc, ids: 'stable' | 'new' | null): Doc {
  const changes: Change[] = doc.changes.filter((c) => c.kind !== 'roll');
  if (ids) changes.push({ kind: 'roll', ids });
  return { ...doc, changes };
}

// --- the group as it is -------------------------------------------------------------------------------------------

export function setSnapshot(doc: Doc, part: Partial<Snapshot>): Doc {
  return { ...doc, snapshot: { ...doc.snapshot, ...part } };
}

/** Ids may repeat: two processes with one id are a finding, not an error of typing. */
export function setConsumerIds(doc: Doc, ids: readonly string[]): Doc {
  const known = new Map(doc.snapshot.consumers.map((consumer) => [consumer.id, consumer]));
  return setSnapshot(doc, { consumers: ids.map((id) => known.get(id) ?? { id }) });
}

/** Sets how many members there are now. New ones get names by which they can be told apart. */
export function setConsumerCount(doc: Doc, count: number): Doc {
  const ids = doc.snapshot.consumers.map((consumer) => consumer.id);
  const taken = new Set(ids);
  for (let n = 1; ids.length < count; n += 1) {
    const id = `consumer-${n}`;
    if (!taken.has(id)) ids.push(id);
  }
  return setConsumerIds(doc, ids.slice(0, count));
}

export function renameConsumer(doc: Doc, at: number, id: string): Doc {
  const consumers = doc.snapshot.consumers.map((consumer, i) => (i === at ? { ...consumer, id } : consumer));
  return setSnapshot(doc, { consumers });
}

export function setBroker(doc: Doc, topic: string, broker: string, to: Partial<Broker> | null): Doc {
  const now = doc.snapshot.topics.find((t) => t.topic === topic)?.brokers ?? [];
  let brokers: readonly Broker[];
  if (to === null) brokers = now.filter((b) => b.broker !== broker);
  else if (now.some((b) => b.broker === broker)) brokers = now.map((b) => (b.broker === broker ? { ...b, ...to } : b));
  else brokers = [...now, { broker, readQueues: 0, ...to }];
  return setTopic(
    doc,
    topic,
    [...brokers].sort((a, b) => byCodeUnit(a.broker, b.broker)),
  );
}

export function setTopic(doc: Doc, topic: string, brokers: readonly Broker[] | null): Doc {
  const others = doc.snapshot.topics.filter((t) => t.topic !== topic);
  const topics = brokers ? [...others, { topic, brokers }] : others;
  return setSnapshot(doc, { topics: topics.sort((a, b) => byCodeUnit(a.topic, b.topic)) });
}

/** The strategy that the group runs now. */
export function setRunning(doc: Doc, name: StrategyName): Doc {
  const strategy = strategyOf(doc, name);
  return strategy ? setSnapshot(doc, { strategy }) : doc;
}

/** New settings reach the strategies that are in use already. */
export function setSettings(doc: Doc, part: Partial<Settings>): Doc {
  let next: Doc = { ...doc, settings: { ...doc.settings, ...part } };
  const running = next.snapshot.strategy && freshly(next, next.snapshot.strategy.name);
  if (running) next = setSnapshot(next, { strategy: running });
  const changes = next.changes.map((c) => {
    const to = c.kind === 'strategy' ? freshly(next, c.to.name) : null;
    return to ? ({ kind: 'strategy', to } as const) : c;
  });
  return { ...next, changes };
}

function freshly(doc: Doc, name: StrategyName) {
  const { strategy: _, ...snapshot } = doc.snapshot;
  return strategyOf({ ...doc, snapshot }, name);
}
