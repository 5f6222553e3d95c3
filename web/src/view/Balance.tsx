import { useSignal } from '@preact/signals';
import { doc, outcome } from '../state';
import { at, loadsAfter, loadsBefore, picture } from '../derive';
import { num, t } from '../i18n';
import type { Picture } from '../worker/protocol';
import { DataTable, Figure, useWidth } from './Figure';
import { visible } from './Name';

/** Up to so many members have a bar each; more are counted by how much they have. */
const MOST_BARS = 48;
const HEIGHT = 170;
const FOOT = 22;

type Weight = 'queues' | 'lag' | 'tps';

/** What each member has before and after, and what would be even. */
export function Balance() {
  const shown = picture.value;
  const weight = useSignal<Weight>('queues');
  if (!shown || shown.members.length === 0) return null;
  const weights = weightsOf();
  const by = weights.includes(weight.value) ? weight.value : 'queues';
  const [before, after] =
    by === 'queues'
      ? [loadsBefore.value, loadsAfter.value]
      : [weighed(shown, 'before', by), weighed(shown, 'after', by)];
  const present = shown.members.map((one, i) => ({ ...one, i, was: before[i] ?? 0, is: after[i] ?? 0 }));
  const there = present.filter((one) => one.after);
  const ideal = there.reduce((sum, { is }) => sum + is, 0) / Math.max(1, there.length);
  const idle = there.filter((one) => (loadsAfter.value[one.i] ?? 0) === 0);
  const loads = there.map(({ is }) => is);
  const span = loads.reduce(({ min, max }, load) => ({ min: Math.min(min, load), max: Math.max(max, load) }), {
    min: loads[0] ?? 0,
    max: 0,
  });
  const words =
    span.min === span.max
      ? t('balance.same', { n: span.max })
      : t('balance.sentence', { ...span, ideal: num(Math.round(ideal * 100) / 100) });
  return (
    <Figure
      title={t('balance')}
      file="balance"
      class="balance-figure"
      sentence={
        idle.length > 0
          ? `${words} ${t('balance.idle', {
              n: idle.length,
              names: idle
                .slice(0, 3)
                .map(({ id }) => visible(id))
                .join(', '),
            })}`
          : words
      }
      table={() => (
        <DataTable
          caption={t('balance')}
          heads={[t('member'), t('map.before'), t('map.after')]}
          rows={present.map(({ id, was, is }) => [visible(id), was, is])}
        />
      )}
      actions={
        weights.length > 1 && (
          <label class="select">
            <span class="unseen">{t('balance.weight')}</span>
            <select value={by} onChange={(event) => (weight.value = event.currentTarget.value as Weight)}>
              {weights.map((one) => (
                <option value={one} key={one}>
                  {t(`balance.${one}`)}
                </option>
              ))}
            </select>
          </label>
        )
      }
    >
      {present.length <= MOST_BARS ? (
        <Bars members={present} ideal={ideal} />
      ) : (
        <Histogram members={present} ideal={ideal} />
      )}
      <ul class="keys">
        <li>
          <span class="swatch before" aria-hidden="true" /> {t('map.before')}
        </li>
        <li>
          <span class="swatch after" aria-hidden="true" /> {t('map.after')}
        </li>
        <li>
          <span class="swatch ideal" aria-hidden="true" /> {t('balance.ideal')}
        </li>
      </ul>
    </Figure>
  );
}

/** What the input has weights of. */
function weightsOf(): Weight[] {
  const load = doc.value.snapshot.load ?? [];
  const has = (weight: 'lag' | 'tps') => load.some((entry) => entry[weight] !== undefined);
  return ['queues', ...(has('lag') ? ['lag' as const] : []), ...(has('tps') ? ['tps' as const] : [])];
}

function weighed(shown: Picture, side: 'before' | 'after', by: 'lag' | 'tps'): Float64Array {
  const first = new Map(shown.rows.map((row) => [JSON.stringify([row.topic, row.broker]), row.first]));
  const sums = new Float64Array(shown.members.length);
  for (const { queue, ...load } of outcome.value?.doc.snapshot.load ?? []) {
    const start = first.get(JSON.stringify([queue.topic, queue.broker]));
    const owner = start === undefined ? -1 : at(shown[side], start + queue.id);
    if (owner >= 0) sums[owner] = (sums[owner] ?? 0) + Number(load[by] ?? 0);
  }
  return sums;
}

interface Load {
  id: string;
  i: number;
  was: number;
  is: number;
  before: boolean;
  after: boolean;
}

function Bars({ members, ideal }: { members: readonly Load[]; ideal: number }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const top = Math.max(1, ideal, ...members.flatMap(({ was, is }) => [was, is]));
  const y = (value: number) => HEIGHT - FOOT - (value / top) * (HEIGHT - FOOT - 18);
  const step = (width - 8) / members.length;
  const bar = Math.max(2, Math.min(22, step * 0.36));
  return (
    <div ref={box}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-hidden="true">
          {members.map(({ id, i, was, is, before, after }, n) => {
            const x = 4 + n * step + step / 2;
            return (
              <g key={id}>
                {before && (
                  <rect x={x - bar - 0.5} y={y(was)} width={bar} height={HEIGHT - FOOT - y(was)} class="bar before" />
                )}
                {after && <rect x={x + 0.5} y={y(is)} width={bar} height={HEIGHT - FOOT - y(is)} class="bar after" />}
                {(step > 18 || n % Math.ceil(18 / step) === 0) && (
                  <text x={x} y={HEIGHT - 8} class="mark-text middle">
                    {i + 1}
                  </text>
                )}
              </g>
            );
          })}
          <line x1={0} x2={width} y1={y(ideal)} y2={y(ideal)} class="ideal" />
          {step > 26 &&
            members.map(
              ({ id, is, after }, n) =>
                after && (
                  <text key={id} x={4 + n * step + step / 2 + bar / 2} y={y(is) - 8} class="mark-text middle">
                    {num(is)}
                  </text>
                ),
            )}
          <line x1={0} x2={width} y1={HEIGHT - FOOT} y2={HEIGHT - FOOT} class="axis" />
        </svg>
      )}
    </div>
  );
}

/** How many members have how much; neighbours share a bin if there are very many. */
function Histogram({ members, ideal }: { members: readonly Load[]; ideal: number }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const values = members.flatMap(({ was, is, before, after }) => [...(before ? [was] : []), ...(after ? [is] : [])]);
  const top = values.reduce((a, b) => Math.max(a, b), 1);
  const size = Math.max(1, Math.ceil((top + 1) / 40));
  const bins = Math.floor(top / size) + 1;
  const [was, is] = [new Float64Array(bins), new Float64Array(bins)];
  const into = (array: Float64Array, value: number) => {
    const bin = Math.floor(value / size);
    array[bin] = (array[bin] ?? 0) + 1;
  };
  for (const one of members) {
    if (one.before) into(was, one.was);
    if (one.after) into(is, one.is);
  }
  const most = Math.max(1, ...was, ...is);
  const y = (value: number) => HEIGHT - FOOT - (value / most) * (HEIGHT - FOOT - 18);
  const step = (width - 8) / bins;
  const bar = Math.max(1.5, Math.min(22, step * 0.4));
  return (
    <div ref={box}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-hidden="true">
          {Array.from(is, (count, bin) => {
            const x = 4 + bin * step + step / 2;
            return (
              <g key={bin}>
                <rect
                  x={x - bar - 0.5}
                  y={y(was[bin] ?? 0)}
                  width={bar}
                  height={HEIGHT - FOOT - y(was[bin] ?? 0)}
                  class="bar before"
                />
                <rect x={x + 0.5} y={y(count)} width={bar} height={HEIGHT - FOOT - y(count)} class="bar after" />
                {count > 0 && step > 26 && (
                  <text x={x + bar / 2} y={y(count) - 5} class="mark-text middle">
                    {num(count)}
                  </text>
                )}
                {(step > 22 || bin % Math.ceil(22 / step) === 0) && (
                  <text x={x} y={HEIGHT - 8} class="mark-text middle">
                    {size === 1 ? bin : `${bin * size}+`}
                  </text>
                )}
              </g>
            );
          })}
          <line
            x1={4 + (ideal / size) * step + step / 2}
            x2={4 + (ideal / size) * step + step / 2}
            y1={4}
            y2={HEIGHT - FOOT}
            class="ideal"
          />
          <line x1={0} x2={width} y1={HEIGHT - FOOT} y2={HEIGHT - FOOT} class="axis" />
        </svg>
      )}
      <p class="hint">{t('balance.histogram')}</p>
    </div>
  );
}
