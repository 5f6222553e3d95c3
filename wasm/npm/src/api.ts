// What every entry of the package exports. The wasm code is there already, or will be when `init` has ended.

import { Allocation, type AllocationText } from './allocation.js';
import { toText, toTextIfAny } from './border.js';
import { glue, planner } from './planner.js';
import { hasNames, hidden } from './pseudonyms.js';
import { changesWithTables, namesOf, snapshotWithTables, withTables } from './rooms.js';
import type {
  Change,
  ConsumerId,
  Explanation,
  Finding,
  Language,
  Move,
  Parsed,
  PlanOptions,
  PlanReport,
  QueueRef,
  Snapshot,
  Strategy,
  VerifyReport,
} from './types.js';

export { Allocation } from './allocation.js';
export { EvenkeelError, type ErrorCode, type ErrorDetails } from './errors.js';
export type * from './types.js';

/**
 * Who gets which queue. Without a strategy it is the snapshot's, else what most of its consumers say, else AVG.
 *
 * @throws EvenkeelError `BAD_SNAPSHOT`, `BAD_STRATEGY`, `EMPTY_QUEUES`, `EMPTY_CONSUMERS`, `NO_ROOM`, `TOO_LARGE`
 */
export function allocate(input: Snapshot, strategy?: Strategy): Allocation {
  const names = namesOf(input);
  const snapshot = toText(snapshotWithTables(input, names));
  const rule = toTextIfAny(strategy && withTables(strategy, names));
  return new Allocation(planner.ask<AllocationText>(() => glue.allocate(snapshot, rule)));
}

/**
 * What one consumer takes: the contract that every client follows. It equals that consumer's share in
 * {@link allocate}; who is not in the list gets nothing. `group` matters to AVG_BY_DRAFT only.
 *
 * @throws EvenkeelError as {@link allocate}, and `UNKNOWN_CONSUMER` for an empty id
 */
export function allocateFor(
  consumer: ConsumerId,
  queues: readonly QueueRef[],
  consumers: readonly ConsumerId[],
  strategy: Strategy,
  group?: string,
): QueueRef[] {
  const rule = withTables(strategy, { brokers: queues.map((queue) => queue.broker), consumers });
  const texts = [toText(queues), toText(consumers), toText(rule)] as const;
  return planner.ask(() => glue.allocateFor(consumer, ...texts, group));
}

/** What moves from one allocation to another. A queue that one of them does not have belongs to nobody there. */
export function diff(before: Allocation, after: Allocation): Move[] {
  const texts = [toText(before), toText(after)] as const;
  return planner.ask(() => glue.diff(...texts));
}

/**
 * What changes would do to a group, under each strategy: field for field what `evenkeel plan --json` prints.
 *
 * @throws EvenkeelError `BAD_SNAPSHOT`, `BAD_CHANGE`, `BAD_STRATEGY`, `UNKNOWN_CONSUMER`, `EMPTY_QUEUES`,
 * `EMPTY_CONSUMERS`, `TOO_LARGE`; and the signal's reason if it is aborted already
 */
export function plan(input: Snapshot, changes: readonly Change[], options: PlanOptions = {}): PlanReport {
  const { signal, ...others } = options;
  signal?.throwIfAborted();
  const names = namesOf(input, changes);
  const { strategies, settings } = others;
  const tables = (list: readonly Strategy[]) => list.map((strategy) => withTables(strategy, names));
  const tabled = {
    ...others,
    ...(Array.isArray(strategies) && { strategies: tables(strategies as readonly Strategy[]) }),
    ...(settings && { settings: tables(settings) }),
  };
  const texts = [
    toText(snapshotWithTables(input, names)),
    toText(changesWithTables(changes, names)),
    toText(tabled),
  ] as const;
  return planner.ask(() => glue.plan(...texts));
}

/**
 * How many queues change hands for each place that the id of one new consumer may sort to, from the first to behind the
 * last. `null` if the strategy looks at more than places, or a client id stands twice.
 */
export function movedByPlace(input: Snapshot, strategy?: Strategy): number[] | null {
  const names = namesOf(input);
  const snapshot = toText(snapshotWithTables(input, names));
  const rule = toTextIfAny(strategy && withTables(strategy, names));
  return planner.ask(() => glue.movedByPlace(snapshot, rule));
}

/**
 * What is wrong with a group as it is: the findings of {@link verifyReport}.
 *
 * @throws EvenkeelError `BAD_SNAPSHOT`, `BAD_STRATEGY`
 */
export function verify(input: Snapshot, options: { language?: Language } = {}): Finding[] {
  return [...verifyReport(input, options).findings];
}

/** The same with everything that `evenkeel verify --json` prints. */
export function verifyReport(input: Snapshot, { language }: { language?: Language } = {}): VerifyReport {
  const snapshot = toText(snapshotWithTables(input, namesOf(input)));
  return planner.ask(() => glue.verify(snapshot, language));
}

/**
 * The same group under pseudonyms, to show it to strangers. Equal names stay equal, and the order of ids, which decides
 * who owns what, is kept. With a `salt`, equal names of several snapshots get equal pseudonyms.
 */
export function redact(input: Snapshot, salt?: string): Snapshot {
  const snapshot = toText(snapshotWithTables(input, namesOf(input)));
  return planner.ask(() => glue.redact(snapshot, salt));
}

/** What a finding's code means; `null` if there is no such code. */
export function explain(code: string): Explanation | null {
  return planner.ask(() => glue.explain(code));
}

/**
 * What people paste, as a snapshot: outputs of mqadmin, answers of the dashboard, lines of a client's log, plain lists,
 * snapshots. Of several texts, what they say together. Bad text is no exception but a list of `problems`, in English or
 * in the language that is asked for.
 */
export function parse(text: string | readonly string[], { language }: { language?: Language } = {}): Parsed {
  const texts = typeof text === 'string' ? [text] : [...text];
  return planner.ask(() => glue.parse(texts, language));
}

/**
 * A link that carries a group and changes in its fragment, which browsers do not send to servers. `base` is the page's
 * address; without it the result is the fragment alone. `strategies` are those that are looked at besides the running
 * one, with their settings. `redact` puts pseudonyms in place of all names, and leaves out strategies whose settings are
 * names. Equal input gives equal links.
 *
 * @throws EvenkeelError `TOO_LARGE` if it would be longer than 8 KB
 */
export function toUrl(
  input: Snapshot,
  changes: readonly Change[] = [],
  options: { redact?: boolean; base?: string | URL; strategies?: readonly Strategy[] } = {},
): string {
  const names = namesOf(input, changes);
  const { redact: hide = false, base = '', strategies = [] } = options;
  const open = { snapshot: snapshotWithTables(input, names), changes: changesWithTables(changes, names) };
  const shared = hide ? hidden(open.snapshot, open.changes, redact) : open;
  const others = hide
    ? strategies.filter((strategy) => !hasNames(strategy))
    : strategies.map((strategy) => withTables(strategy, names));
  const texts = [toText(shared.snapshot), toText(shared.changes), toText(others)] as const;
  const fragment = planner.run(() => glue.toFragment(...texts));
  return `${String(base).replace(/#.*$/s, '')}${fragment}`;
}

/**
 * What a link of {@link toUrl} carries; the fragment alone does as well.
 *
 * @throws EvenkeelError `BAD_LINK`, `TOO_LARGE`
 */
export function fromUrl(url: string | URL): { snapshot: Snapshot; changes: Change[]; strategies: Strategy[] } {
  const { snapshot, changes = [], strategies = [] } = planner.ask<{
    snapshot: Snapshot;
    changes?: Change[];
    strategies?: Strategy[];
  }>(() => glue.fromUrl(String(url)));
  return { snapshot, changes, strategies };
}
