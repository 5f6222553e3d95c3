import { useSignal } from '@preact/signals';
import { doc, outcome, selected } from '../state';
import { num, t } from '../i18n';
import type { PlanResult, Range } from '../types';
import { rangeText } from '../words';
import { DataTable, Figure, useWidth } from './Figure';

type Order = 'moved' | 'skew' | 'idle';
const ORDERS: readonly Order[] = ['moved', 'skew', 'idle'];
const LINE = 30;

/** A result, with what it could have been if ids were not known. */
type Line = PlanResult & { range: Range };

/** What each strategy moves: a bar, whiskers for what is not known, and the floor that no even result gets under. */
export function Churn() {
  const order = useSignal<Order>('moved');
  const results: Line[] = [...(outcome.value?.rows.values() ?? [])].flatMap(({ result, unknown }) =>
    result ? { ...result, range: unknown ?? result.moved } : [],
  );
  if (results.length === 0 || doc.value.changes.length === 0) return null;
  const value = (result: PlanResult): number => {
    if (order.value === 'moved') return result.moved.typical;
    return order.value === 'skew' ? result.perConsumer.skew : result.perConsumer.idle.length;
  };
  const sorted = results.sort((a, b) => value(a) - value(b));
  const mine = results.find(({ strategy }) => strategy === selected.value);
  return (
    <Figure
      title={t('churn')}
      file="churn"
      class="churn-figure"
      sentence={
        mine &&
        t('churn.sentence', {
          name: mine.strategy,
          n: rangeText(mine.moved),
          total: mine.moved.typical + mine.kept.typical,
          floor: mine.floor,
        })
      }
      table={() => (
        <DataTable
          caption={t('churn')}
          heads={[t('strategy'), t('col.moved'), t('col.range'), t('churn.floor'), t('col.skew'), t('col.idle')]}
          rows={sorted.map((r) => [
            r.strategy,
            r.moved.typical,
            rangeText(r.range),
            r.floor,
            r.perConsumer.skew,
            r.perConsumer.idle.length,
          ])}
        />
      )}
      actions={
        <label class="select">
          <span class="unseen">{t('churn.sort')}</span>
          <select value={order.value} onChange={(event) => (order.value = event.currentTarget.value as Order)}>
            {ORDERS.map((one) => (
              <option key={one} value={one}>
                {t('churn.by', { what: t(`col.${one}`) })}
              </option>
            ))}
          </select>
        </label>
      }
    >
      <Bars results={sorted} />
      <ul class="keys">
        <li>
          <span class="swatch whisker" aria-hidden="true" /> {t('churn.range')}
        </li>
        <li>
          <span class="swatch ideal" aria-hidden="true" /> {t('churn.floor')}
        </li>
      </ul>
    </Figure>
  );
}

function Bars({ results }: { results: readonly Line[] }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const top = Math.max(1, ...results.flatMap(({ moved, range, floor }) => [moved.max, range.max, floor]));
  const label = Math.min(180, width * 0.42);
  const x = (value: number) => label + (value / top) * Math.max(0, width - label - 44);
  const height = results.length * LINE + 6;
  return (
    <div ref={box}>
      {width > 0 && (
        <svg width={width} height={height} aria-hidden="true">
          {results.map(({ strategy, moved, range, floor }, i) => {
            const y = 3 + i * LINE;
            const middle = y + LINE / 2;
            return (
              <g key={strategy} class={strategy === selected.value ? 'is-selected' : ''}>
                <text x={0} y={middle} class="mark-text">
                  {strategy}
                </text>
                <rect x={x(0)} y={y + 6} width={x(moved.typical) - x(0)} height={LINE - 12} class="bar after" />
                {range.min !== range.max && (
                  <>
                    <path d={whisker(x(range.min), x(range.max), middle)} class="whisker halo" />
                    <path d={whisker(x(range.min), x(range.max), middle)} class="whisker" />
                  </>
                )}
                <line x1={x(floor)} x2={x(floor)} y1={y + 1} y2={y + LINE - 1} class="ideal" />
                <text x={x(Math.max(moved.max, range.max)) + 6} y={middle} class="mark-text">
                  {num(moved.typical)}
                </text>
              </g>
            );
          })}
          <line x1={x(0)} x2={x(0)} y1={0} y2={height} class="axis" />
        </svg>
      )}
    </div>
  );
}

function whisker(from: number, to: number, y: number): string {
  return `M${from} ${y}H${to}M${from} ${y - 5}v10M${to} ${y - 5}v10`;
}
