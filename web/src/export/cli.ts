/** The same question on the command line, and in a program. */
import type { Change, Snapshot } from '../types';
import type { Doc } from '../model/doc';

export const SNAPSHOT_FILE = 'snapshot.json';

/** `evenkeel plan` on the snapshot file that can be saved beside it. */
export function cliLine({ changes }: Doc): string {
  return ['evenkeel plan', `--from ${SNAPSHOT_FILE}`, ...changes.flatMap(flags)].join(' ');
}

function flags(change: Change): string[] {
  switch (change.kind) {
    case 'add':
      return 'ids' in change ? change.ids.map((id) => `--add ${quoted(id)}`) : [`--add ${change.count}`];
    case 'remove':
      return 'ids' in change ? change.ids.map((id) => `--remove ${quoted(id)}`) : [`--remove ${change.count}`];
    case 'queues':
      return [`--queues ${quoted(`${change.broker}=${change.readQueues}`)}`];
    case 'dropBroker':
      return [`--drop-broker ${quoted(change.broker)}`];
    case 'roll':
      return [`--roll ${change.ids === 'stable' ? 'stable' : 'new'}`];
    // Not on the command line yet; they are in the link and in the snippet.
    case 'permissionLost':
    case 'strategy':
      return [];
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
