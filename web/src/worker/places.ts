/** Ids that sort at a wanted place among others. */
import { byCodeUnit } from '../model/doc';

/** An id that sorts at `at` among the sorted `ids`, or null if none was found. */
export function idAt(ids: readonly string[], at: number): string | null {
  const [before, after] = [ids[at - 1], ids[at]];
  const tries =
    before === undefined
      ? ['0-new', '!new', ' new']
      : ['-new', '+new', '!new', ' new', '\u0001'].map((end) => before + end);
  const fits = (id: string) =>
    (before === undefined || byCodeUnit(before, id) < 0) && (after === undefined || byCodeUnit(id, after) < 0);
  return tries.find(fits) ?? null;
}

/** The places from 0 to `last`, all of them or so many spread evenly, the first and the last among them. */
export function spread(last: number, most: number): number[] {
  if (last < most) return Array.from({ length: last + 1 }, (_, at) => at);
  return Array.from({ length: most }, (_, n) => Math.round((n * last) / (most - 1)));
}
