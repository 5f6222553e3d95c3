/** The verdict and other sentences, put together from the results. */
import { num, t } from './i18n';
import type { Outcome } from './state';
import type { Change, PlanResult, Range } from './types';
import { NOBODY, type Picture } from './worker/protocol';

/** `9`, `5–9`, `≈ 3 (0–6)`. */
export function rangeText({ min, typical, max, exact }: Range): string {
  if (min === max) return num(min);
  const span = `${num(min)}–${num(max)}`;
  return exact ? span : `≈ ${num(typical)} (${span})`;
}

/** How many queues change hands: along the way of a rolling restart, else from beginning to end. */
export function handedOver(result: PlanResult, changes: readonly Change[]): number {
  return rolls(changes) && result.handedOver ? result.handedOver.typical : result.moved.typical;
}

/** Whether there are steps on the way that users should hear of: other changes are made at once. */
export function rolls(changes: readonly Change[]): boolean {
  return changes.some(({ kind }) => kind === 'roll');
}

export interface VerdictText {
  main: string;
  more: string[];
}

export function verdict({ rows, selected, doc, picture }: Outcome): VerdictText | null {
  const { result, unknown } = rows.get(selected) ?? {};
  if (!result) return null;
  const more: string[] = [];
  if (doc.changes.length === 0) {
    return {
      main: t('verdict.nothing', { n: doc.snapshot.consumers.length, loads: listed(result) }),
      more: [...idle(result), ...faults(picture)],
    };
  }
  more.push(even(result), ...idle(result), ...faults(picture));
  if (result.added > 0) more.push(t('verdict.added', { n: result.added }));
  if (result.removed > 0) more.push(t('verdict.removed', { n: result.removed }));
  more.push(t('verdict.floor', { n: result.floor }));
  if (unknown) more.push(t('verdict.unknown', { range: rangeText(unknown) }));
  if (result.moved.samples) more.push(t('verdict.trials', { n: result.moved.samples }));
  return { main: moved(result, doc.changes), more };
}

function moved(result: PlanResult, changes: readonly Change[]): string {
  const { moved, kept, steps } = result;
  const total = moved.typical + kept.typical;
  if (steps && rolls(changes)) {
    return t('verdict.roll', { n: handedOver(result, changes), steps: steps.length, moved: rangeText(moved), total });
  }
  if (moved.min === moved.max) return t('verdict.moved', { n: moved.min, total });
  if (moved.exact) return t('verdict.between', { min: moved.min, max: moved.max, total });
  return t('verdict.about', { n: moved.typical, min: moved.min, max: moved.max, total });
}

function even(result: PlanResult): string {
  const { min, max, skew } = result.perConsumer;
  if (skew > 1) return t('verdict.uneven', { min, max });
  return t('verdict.even', { loads: listed(result) });
}

function idle({ perConsumer }: PlanResult): string[] {
  const { idle, min } = perConsumer;
  if (idle.length === 0) return [min > 0 ? t('verdict.busy') : ''].filter(Boolean);
  const names = idle.slice(0, 3).join(', ');
  return [t('verdict.idle', { n: idle.length, names: idle.length > 3 ? `${names} …` : names })];
}

/** Queues that nobody or several read afterwards. */
function faults(picture: Picture | null): string[] {
  if (!picture) return [];
  const orphaned = picture.after.reduce((sum, owner) => sum + (owner === NOBODY ? 1 : 0), 0);
  const doubled = picture.doubledAfter.length;
  return [
    ...(doubled > 0 ? [t('verdict.doubled', { n: doubled })] : []),
    ...(orphaned > 0 ? [t('verdict.orphaned', { n: orphaned })] : []),
  ];
}

/** The loads of up to a dozen members, `4 4 4 4`, else their span. */
function listed({ perConsumer: { loads, min, max } }: PlanResult): string {
  if (loads.length > 0 && loads.length <= 12) return loads.map(num).join(' ');
  return min === max ? num(min) : `${num(min)}–${num(max)}`;
}
