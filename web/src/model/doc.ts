/**
 * What the page is about: a group as it is, the changes to try on it, and where the group was read from. Everything
 * here is a value: an edit makes a new one, which is what undo, links and the worker rely on.
 */
import type { Change, QueueRef, Said, Snapshot, Strategy, StrategyName } from '../types';
import { namedStrategy, STRATEGY_NAMES, strategyName } from './names';

export interface Doc {
  readonly snapshot: Snapshot;
  readonly changes: readonly Change[];
  /** Settings of strategies that the group does not run (yet). */
  readonly settings: Settings;
  /** What was pasted or opened, newest last. */
  readonly sources: readonly Source[];
  /** What the pastes alone gave; as long as nothing was edited since, the snapshot is this. */
  readonly pasted: Snapshot | null;
  /** What the pastes leave open, in the engine's words. */
  readonly open: readonly Note[];
}

export interface Settings {
  readonly virtualNodes: number;
  readonly hash: 'java-md5' | 'go-crc32';
  /** Rooms that MACHINE_ROOM consumes from; empty if not set. */
  readonly rooms: readonly string[];
  /** How MACHINE_ROOM_NEARBY finds rooms; null if not set. */
  readonly roomOf: RoomSource | null;
  /** The lists of CONFIG; null if not set. */
  readonly lists: Readonly<Record<string, readonly QueueRef[]>> | null;
}

/** Room rules as the user wrote them: the text is kept so that it can be edited again. */
export interface RoomSource {
  readonly kind: 'prefix' | 'table' | 'pattern';
  /** One `name = room` a line for a table, a regular expression with one group for a pattern. */
  readonly brokers: string;
  readonly consumers: string;
}

/** What one paste or file gave. */
export interface Source {
  readonly text: string;
  readonly kinds: readonly string[];
  readonly queues: number;
  readonly consumers: number;
  readonly lines: number;
  /** Lines that were not understood. */
  readonly skipped: number;
  readonly problems: ReadonlyArray<Note & { line: number }>;
}

export interface Note {
  readonly text: Said;
  readonly expected: Said;
}

export const NO_SETTINGS: Settings = { virtualNodes: 10, hash: 'java-md5', rooms: [], roomOf: null, lists: null };

/** More than this is for the command line. */
export const MAX_QUEUES = 100_000;

/** `others` are strategies besides the running one; like it, they bring their settings along. */
export function doc(snapshot: Snapshot, changes: readonly Change[] = [], others: readonly Strategy[] = []): Doc {
  const known = snapshot.strategy ? [...others, snapshot.strategy] : others;
  const settings = known.reduce(withSettingsOf, NO_SETTINGS);
  return { snapshot, changes, settings, sources: [], pasted: null, open: [] };
}

export const EMPTY: Snapshot = { schema: 'evenkeel.snapshot/1', topics: [], consumers: [] };

function withSettingsOf(settings: Settings, strategy: Strategy): Settings {
  switch (strategy.name) {
    case 'CONSISTENT_HASH':
      return {
        ...settings,
        virtualNodes: strategy.virtualNodes ?? NO_SETTINGS.virtualNodes,
        hash: strategy.hash ?? NO_SETTINGS.hash,
      };
    case 'MACHINE_ROOM':
      return { ...settings, rooms: strategy.rooms };
    case 'MACHINE_ROOM_NEARBY':
      return { ...settings, roomOf: tablesOf(strategy) ?? settings.roomOf };
    case 'CONFIG':
      return { ...settings, lists: strategy.queues };
    default:
      return settings;
  }
}

/** Room tables as the user would write them; null if the strategy is not one that the page can make. */
function tablesOf({ inner, roomOf }: Extract<Strategy, { name: 'MACHINE_ROOM_NEARBY' }>): RoomSource | null {
  const isAvg = (typeof inner === 'string' ? namedStrategy(inner)?.name : inner.name) === 'AVG';
  if (!isAvg || !('brokers' in roomOf)) return null;
  const { brokers, consumers } = roomOf;
  if (brokers instanceof RegExp || consumers instanceof RegExp) return null;
  const lines = (rooms: Readonly<Record<string, string>>) =>
    Object.entries(rooms)
      .map(([name, room]) => `${name} = ${room}\n`)
      .join('');
  return { kind: 'table', brokers: lines(brokers), consumers: lines(consumers) };
}

/** What a link carries: also the strategies that are not running, if somebody has given them settings. */
export function linked(now: Doc): { snapshot: Snapshot; changes: readonly Change[]; strategies: Strategy[] } {
  const { snapshot, changes, settings } = now;
  const given: Partial<Record<StrategyName, boolean>> = {
    CONSISTENT_HASH: settings.virtualNodes !== NO_SETTINGS.virtualNodes || settings.hash !== NO_SETTINGS.hash,
    MACHINE_ROOM: settings.rooms.length > 0,
    MACHINE_ROOM_NEARBY: settings.roomOf !== null,
    CONFIG: settings.lists !== null,
  };
  const others = STRATEGY_NAMES.filter((name) => given[name] && name !== snapshot.strategy?.name);
  return { snapshot, changes, strategies: others.flatMap((name) => strategyOf(now, name) ?? []) };
}

export function isEmpty({ snapshot }: Doc): boolean {
  return snapshot.consumers.length === 0 && snapshot.topics.length === 0;
}

/** Readable queues, as consumers see them. */
export function countQueues(snapshot: Snapshot): number {
  let sum = 0;
  for (const topic of snapshot.topics) {
    for (const broker of topic.brokers) if (broker.readable !== false) sum += broker.readQueues;
  }
  return sum;
}

export function brokersOf(snapshot: Snapshot): string[] {
  return [...new Set(snapshot.topics.flatMap((topic) => topic.brokers.map((broker) => broker.broker)))].sort(
    byCodeUnit,
  );
}

/** Java's order of strings, which is JavaScript's too: by UTF-16 code unit, so that `10.0.0.10` is before `10.0.0.9`. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What is said, else what most members run, else AVG. */
export function runningName(snapshot: Snapshot): StrategyName {
  if (snapshot.strategy) return snapshot.strategy.name;
  const counts = new Map<StrategyName, number>();
  for (const { strategy } of snapshot.consumers) {
    const name = strategy === undefined ? null : strategyName(strategy);
    if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || byCodeUnit(a[0], b[0]))[0]?.[0] ?? 'AVG';
}

/** A strategy with the settings it needs, or null if they are not there. */
export function strategyOf(doc: Doc, name: StrategyName): Strategy | null {
  const { snapshot, settings } = doc;
  if (snapshot.strategy?.name === name && name !== 'CONSISTENT_HASH' && name !== 'MACHINE_ROOM' && name !== 'CONFIG') {
    return snapshot.strategy;
  }
  switch (name) {
    case 'CONSISTENT_HASH':
      return { name, virtualNodes: settings.virtualNodes, hash: settings.hash };
    case 'MACHINE_ROOM':
      return settings.rooms.length > 0 ? { name, rooms: settings.rooms } : null;
    case 'MACHINE_ROOM_NEARBY': {
      const roomOf = settings.roomOf && roomRules(settings.roomOf);
      return roomOf ? { name, inner: { name: 'AVG' }, roomOf } : null;
    }
    case 'CONFIG':
      return settings.lists ? { name, queues: settings.lists } : null;
    default:
      return { name };
  }
}

type RoomOf = Extract<Strategy, { name: 'MACHINE_ROOM_NEARBY' }>['roomOf'];

/** Null if a pattern is not a regular expression. */
export function roomRules(source: RoomSource): RoomOf | null {
  if (source.kind === 'table') return { brokers: table(source.brokers), consumers: table(source.consumers) };
  if (source.kind === 'prefix') return { brokers: /^([^@]+)@/, consumers: /^([^@-]+)[@-]/ };
  try {
    return { brokers: new RegExp(source.brokers, 'u'), consumers: new RegExp(source.consumers, 'u') };
  } catch {
    return null;
  }
}

/** `name = room` lines; the last `=` counts, since names may have one. */
export function table(text: string): Record<string, string> {
  const rooms: [string, string][] = [];
  for (const line of text.split('\n')) {
    const at = line.lastIndexOf('=');
    const [name, room] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    if (at > 0 && name && room) rooms.push([name, room]);
  }
  return Object.fromEntries(rooms);
}
