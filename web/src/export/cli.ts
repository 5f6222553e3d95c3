/** The same question on the command line, and in a program. */
import type { Change, Snapshot, Strategy } from '../types';
import type { Doc } from '../model/doc';

export const SNAPSHOT_FILE = 'snapshot.json';

/**
 * `evenkeel plan` on the snapshot file that can be saved beside it. Settings of strategies, and a change to one with rooms
 * or lists, have no flag; the link has them, see `linkLine`.
 */
export function cliLine({ snapshot, changes }: Doc): string {
  const line = ['evenkeel plan', `--from ${SNAPSHOT_FILE}`, ...changes.flatMap((change) => flags(change, snapshot))];
  const unsaid = changes.some((change) => change.kind === 'strategy' && !shortName(change.to));
  return line.join(' ') + (unsaid ? ' # one change has no flag: the link has it' : '');
}

/** The same with the whole plan in the line: the group, the changes, and the settings of every strategy. */
export function linkLine(url: string): string {
  return `evenkeel plan --from ${quoted(url)}`;
}

function flags(change: Change, { topics }: Snapshot): string[] {
  switch (change.kind) {
    case 'add':
      return 'ids' in change ? change.ids.map((id) => `--add ${quoted(id)}`) : [`--add ${change.count}`];
    case 'remove':
      return 'ids' in change ? change.ids.map((id) => `--remove ${quoted(id)}`) : [`--remove ${change.count}`];
    case 'queues':
      return [queues(change.topic, change.broker, change.readQueues, topics)];
    case 'dropBroker':
      return [`--drop-broker ${quoted(change.broker)}`];
    case 'roll':
      return [`--roll ${change.ids === 'stable' ? 'stable' : 'new'}`];
    case 'permissionLost': {
      const { topic, broker } = change;
      const lost = topics.filter((seen) => (topic ?? seen.topic) === seen.topic);
      const there = lost.filter(({ brokers }) => brokers.some((on) => on.broker === broker));
      return there.map((seen) => queues(seen.topic, broker, 0, topics));
    }
    case 'strategy': {
      const name = shortName(change.to);
      return name ? [`--switch-to ${name}`] : [];
    }
  }
}

function queues(topic: string, broker: string, readQueues: number, topics: Snapshot['topics']): string {
  const before = topics.length > 1 ? `${topic}:` : '';
  return `--queues ${quoted(`${before}${broker}=${readQueues}`)}`;
}

/** What the command line calls a strategy that needs no file. */
function shortName(strategy: Strategy): string | null {
  switch (strategy.name) {
    case 'AVG':
      return 'avg';
    case 'AVG_BY_CIRCLE':
      return 'circle';
    case 'CONSISTENT_HASH':
      if (strategy.hash === 'go-crc32') return null;
      return (strategy.virtualNodes ?? 10) === 10 ? 'hash' : `hash:${strategy.virtualNodes}`;
    case 'AVG_BY_DRAFT':
      return Object.keys(strategy).length === 1 ? 'draft' : null;
    default:
      return null;
  }
}

/** For a POSIX shell: as it is if nothing in it is special, else in single quotes. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function npmSnippet({ snapshot, changes }: Doc): string {
  return [
    "import { plan } from 'evenkeel';",
    '',
    `const snapshot = ${literal(snapshot)};`,
    `const changes = ${literal(changes)};`,
    '',
    'for (const { strategy, moved, floor } of plan(snapshot, changes).results) {',
    '  console.log(strategy, moved, floor);',
    '}',
    '',
  ].join('\n');
}

/** JavaScript, which has room rules as regular expressions and offsets as big integers where JSON has neither. */
function literal(value: unknown): string {
  if (value instanceof RegExp) return String(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, v]) => v !== undefined);
    return `{ ${fields.map(([k, v]) => `${/^[A-Za-z_]\w*$/.test(k) ? k : JSON.stringify(k)}: ${literal(v)}`).join(', ')} }`;
  }
  return JSON.stringify(value);
}

/** The file that `--from` reads. Big integers are written as numbers, digit by digit. */
export function snapshotJson(snapshot: Snapshot): string {
  const marked = JSON.stringify(
    snapshot,
    (_, value: unknown) => {
      if (typeof value === 'bigint') return `\u0000${value}`;
      return value instanceof RegExp ? value.source : value;
    },
    2,
  );
  return marked.replace(/"\\u0000(-?\d+)"/g, '$1') + '\n';
}
