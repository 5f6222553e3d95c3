/** Moves as CSV (RFC 4180): a head, CRLF, quotes where they are needed. */
import type { MoveRow } from '../derive';
import type { Picture } from '../worker/protocol';

export function movesCsv(picture: Picture, moves: readonly MoveRow[]): string {
  const name = (at: number) => picture.members[at]?.id ?? '';
  const rows = moves.map(({ row, queue, from, to }) => [row.topic, row.broker, String(queue), name(from), name(to)]);
  return [['topic', 'broker', 'queue', 'from', 'to'], ...rows].map((row) => row.map(field).join(',') + '\r\n').join('');
}

/**
 * A field that a spreadsheet would take for a formula gets a quote mark in front: names come from anywhere, and a file
 * that is opened must not run anything.
 */
export function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}
