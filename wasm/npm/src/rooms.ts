// Regular expressions for machine rooms. Core knows tables; the names they apply to are known here.

import type { Change, ConsumerId, RoomRules, Snapshot, Strategy } from './types.js';

/** Names that a strategy may have to place. */
export interface Names {
  readonly brokers: Iterable<string>;
  readonly consumers: Iterable<ConsumerId>;
}

/** Every broker and consumer that a snapshot and changes name. What is no snapshot names nobody; core says so. */
export function namesOf(snapshot: Snapshot, changes: readonly Change[] = []): Names {
  const brokers = new Set<string>();
  const consumers = new Set<ConsumerId>();
  for (const topic of listed(snapshot?.topics)) {
    for (const on of listed(topic?.brokers)) brokers.add(on?.broker);
  }
  for (const consumer of listed(snapshot?.consumers)) consumers.add(consumer?.id);
  for (const change of listed(changes)) {
    if (change?.kind === 'queues') brokers.add(change.broker);
    for (const id of listed((change as { ids?: readonly ConsumerId[] } | null)?.ids)) consumers.add(id);
  }
  return { brokers, consumers };
}

function listed<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? value : [];
}

/** A strategy inside of a strategy cannot have one inside: what is deeper is core's to refuse. */
const DEEPEST = 2;

/** The same strategy with tables instead of regular expressions. */
export function withTables(strategy: Strategy, names: Names, depth = 0): Strategy {
  if (typeof strategy !== 'object' || strategy === null || depth > DEEPEST) return strategy;
  const changed: Record<string, unknown> = { ...strategy };
  let differs = false;
  for (const [field, value] of Object.entries(strategy)) {
    let other: unknown = value;
    if (field === 'inner') other = withTables(value as Strategy, names, depth + 1);
    if (field === 'roomOf') other = rulesWithTables(value as RoomRules, names);
    if (other !== value) {
      changed[field] = other;
      differs = true;
    }
  }
  return differs ? (changed as unknown as Strategy) : strategy;
}

function rulesWithTables(rules: RoomRules, names: Names): RoomRules {
  if (typeof rules !== 'object' || rules === null) return rules;
  const { brokers, consumers } = rules as { brokers?: unknown; consumers?: unknown };
  if (!(brokers instanceof RegExp) && !(consumers instanceof RegExp)) return rules;
  return {
    ...rules,
    ...(brokers instanceof RegExp ? { brokers: table(brokers, names.brokers) } : {}),
    ...(consumers instanceof RegExp ? { consumers: table(consumers, names.consumers) } : {}),
  } as RoomRules;
}

/** A name's room is the first group, or the whole match if there is no group. A name that does not match has none. */
function table(pattern: RegExp, names: Iterable<string>): Record<string, string> {
  const entries: [string, string][] = [];
  // Neither `g` nor `y`: they would make an answer depend on the one before.
  const once = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
  for (const name of names) {
    const found = once.exec(name);
    const room = found && (found.length > 1 ? found[1] : found[0]);
    if (room) entries.push([name, room]);
  }
  return Object.fromEntries(entries);
}

/** A snapshot whose strategy has tables only. */
export function snapshotWithTables(snapshot: Snapshot, names: Names): Snapshot {
  if (!snapshot?.strategy) return snapshot;
  const strategy = withTables(snapshot.strategy, names);
  return strategy === snapshot.strategy ? snapshot : { ...snapshot, strategy };
}

/** Changes whose strategies have tables only. */
export function changesWithTables(changes: readonly Change[], names: Names): readonly Change[] {
  if (!Array.isArray(changes)) return changes;
  return (changes as readonly Change[]).map((change) =>
    change?.kind === 'strategy' ? { ...change, to: withTables(change.to, names) } : change,
  );
}
