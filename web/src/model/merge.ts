/** Several pastes add up, and what was typed in between stays. */
import type { Parsed, Snapshot } from '../types';
import { byCodeUnit, countQueues, doc as newDoc, type Doc, type Source } from './doc';

export interface Pasted {
  text: string;
  alone: Parsed;
  /** With all texts that were pasted before. */
  together: Parsed;
}

/**
 * Adds a paste to a document. A whole snapshot takes its place. Otherwise all pastes are read as one; if something was
 * edited since the last, that is laid over it: topics and brokers by name, members by id.
 */
export function addPaste(doc: Doc, { text, alone, together }: Pasted): Doc {
  const source = sourceOf(alone, text);
  if (alone.kinds.includes('snapshot')) {
    return { ...newDoc(alone.snapshot), sources: [source], pasted: alone.snapshot, open: notes(alone) };
  }
  const sources = [...doc.sources, source];
  if (alone.kinds.length === 0) return { ...doc, sources };
  const isUntouched = doc.snapshot === doc.pasted;
  const snapshot = isUntouched ? together.snapshot : merge(doc.snapshot, together.snapshot);
  const fresh = newDoc(snapshot, doc.changes);
  const settings = snapshot.strategy && !doc.snapshot.strategy ? fresh.settings : doc.settings;
  return { ...doc, snapshot, settings, sources, pasted: isUntouched ? snapshot : null, open: notes(together) };
}

function sourceOf({ kinds, snapshot, problems, lines }: Parsed, text: string): Source {
  const unread = problems.filter(({ line }) => line > 0);
  return {
    text,
    kinds,
    queues: countQueues(snapshot),
    consumers: snapshot.consumers.length,
    lines,
    skipped: unread.reduce((sum, problem) => sum + (problem.lines ?? 1), 0),
    problems: unread,
  };
}

/** What is no fault of a line, but missing: those come without one. */
function notes({ problems }: Parsed): Doc['open'] {
  return problems.filter(({ line }) => line === 0);
}

export function merge(base: Snapshot, part: Partial<Snapshot>): Snapshot {
  const { topics: _t, consumers: _c, owned: _o, load: _l, ...rest } = part;
  const merged: Snapshot = {
    ...base,
    ...rest,
    schema: base.schema,
    topics: mergeTopics(base.topics, part.topics ?? []),
    consumers: mergeConsumers(base.consumers, part.consumers ?? []),
  };
  const owned = byQueue(base.owned, part.owned);
  const load = byQueue(base.load, part.load);
  return { ...merged, ...(owned && { owned }), ...(load && { load }) };
}

function mergeTopics(base: Snapshot['topics'], more: Snapshot['topics']): Snapshot['topics'] {
  const topics = new Map(base.map((topic) => [topic.topic, topic]));
  for (const { topic, brokers } of more) {
    const all = new Map(topics.get(topic)?.brokers.map((broker) => [broker.broker, broker]));
    for (const broker of brokers) all.set(broker.broker, { ...all.get(broker.broker), ...broker });
    const sorted = [...all.values()].sort((a, b) => byCodeUnit(a.broker, b.broker));
    topics.set(topic, { topic, brokers: sorted });
  }
  return [...topics.values()].sort((a, b) => byCodeUnit(a.topic, b.topic));
}

/** An id that one paste names twice is there twice; the same id from two pastes is one member. */
function mergeConsumers(base: Snapshot['consumers'], more: Snapshot['consumers']): Snapshot['consumers'] {
  const last = new Map(more.map((consumer) => [consumer.id, consumer]));
  const updated = base.map((consumer) => ({ ...consumer, ...last.get(consumer.id) }));
  const left = new Map<string, number>();
  for (const { id } of base) left.set(id, (left.get(id) ?? 0) + 1);
  const added = more.filter(({ id }) => {
    const count = left.get(id) ?? 0;
    if (count > 0) left.set(id, count - 1);
    return count === 0;
  });
  return [...updated, ...added];
}

function byQueue<T extends { queue: { topic: string; broker: string; id: number } }>(
  base: readonly T[] | undefined,
  more: readonly T[] | undefined,
): readonly T[] | undefined {
  if (!base || !more) return more ?? base;
  const key = ({ queue }: T) => JSON.stringify([queue.topic, queue.broker, queue.id]);
  const all = new Map(base.map((entry) => [key(entry), entry]));
  for (const entry of more) all.set(key(entry), { ...all.get(key(entry)), ...entry });
  return [...all.values()];
}
