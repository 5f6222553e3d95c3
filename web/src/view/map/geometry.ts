/** Where cells are. A map has a line a row of the picture, and cells from left to right. */
import type { MapRow } from '../../worker/protocol';

export interface Geometry {
  rows: readonly MapRow[];
  columns: number;
  cell: number;
  width: number;
  height: number;
}

export const SIZES: readonly number[] = [3, 4, 6, 8, 12, 16, 22, 28, 36];
/** From this size on an owner's number is written into its cells. */
export const NUMBERED = 16;
/** Up to so many cells are elements of the document; more are painted. */
export const MOST_ELEMENTS = 2_000;

export function geometry(rows: readonly MapRow[], cell: number): Geometry {
  const columns = rows.reduce((most, row) => Math.max(most, row.queues), 0);
  return { rows, columns, cell, width: columns * cell + 1, height: rows.length * cell + 1 };
}

/** The size at which a map fits into a width: comfortable if there is little, no smaller than can be seen. */
export function fitting(rows: readonly MapRow[], width: number): number {
  const { columns, rows: lines } = geometry(rows, 1);
  const cells = rows.reduce((sum, row) => sum + row.queues, 0);
  const most = cells > MOST_ELEMENTS ? 8 : 28;
  const room = columns > 0 ? width / columns : most;
  const tall = lines.length > 0 ? 520 / lines.length : most;
  const size = Math.min(most, room, Math.max(tall, 8));
  const least = cells > MOST_ELEMENTS ? 3 : NUMBERED;
  return SIZES.reduce((best, one) => (one <= size ? one : best), least);
}

export interface Spot {
  row: number;
  column: number;
}

export function spotAt(g: Geometry, x: number, y: number): Spot | null {
  const spot = { row: Math.floor(y / g.cell), column: Math.floor(x / g.cell) };
  return spot.column >= 0 && spot.column < (g.rows[spot.row]?.queues ?? 0) ? spot : null;
}

/** Where a key leads, as in the grid pattern; null if it is none of its keys. */
export function keyed(g: Geometry, { row, column }: Spot, key: string, ctrl: boolean): Spot | null {
  const page = 10;
  const inside = (to: Spot): Spot => {
    const line = Math.max(0, Math.min(g.rows.length - 1, to.row));
    return { row: line, column: Math.max(0, Math.min((g.rows[line]?.queues ?? 1) - 1, to.column)) };
  };
  switch (key) {
    case 'ArrowRight':
      return inside({ row, column: column + 1 });
    case 'ArrowLeft':
      return inside({ row, column: column - 1 });
    case 'ArrowDown':
      return inside({ row: row + 1, column });
    case 'ArrowUp':
      return inside({ row: row - 1, column });
    case 'PageDown':
      return inside({ row: row + page, column });
    case 'PageUp':
      return inside({ row: row - page, column });
    case 'Home':
      return inside({ row: ctrl ? 0 : row, column: 0 });
    case 'End':
      return inside({ row: ctrl ? g.rows.length : row, column: g.columns });
    default:
      return null;
  }
}
