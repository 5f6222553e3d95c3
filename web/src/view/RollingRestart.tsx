import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { doc, outcome, rolling, engine } from '../state';
import { ask, jobOf } from '../session';
import { countQueues } from '../model/doc';
import { num, t, told } from '../i18n';
import { still } from '../screen';
import type { Refusal } from '../types';
import type { RollStep } from '../worker/protocol';
import { DataTable, Figure, useWidth } from './Figure';
import { visible } from './Name';

/** Up to so much work it is reckoned unasked. */
const UNASKED = 40_000;
const STEP_MS = 700;
const HEIGHT = 150;

/** What a restart of all members, one by one, hands over: with the same ids, and with new ones. */
export function RollingRestart() {
  const { snapshot } = doc.value;
  const members = snapshot.consumers.length;
  const result = outcome.value;
  const cheap = members * members * (countQueues(snapshot) + members) < UNASKED * 10;
  const refused = useSignal<Refusal | null>(null);
  const load = () => {
    refused.value = null;
    const job = jobOf();
    const wanted = doc.value;
    ask({ kind: 'roll', job: { ...job, changes: [] } }).then(
      (answer) => {
        if (doc.value === wanted) rolling.value = answer;
      },
      (refusal: Refusal) => (refused.value = refusal),
    );
  };
  useEffect(() => {
    if (result?.milliseconds != null && cheap && members > 0 && engine.value.state === 'ready') load();
  }, [result?.doc, result?.selected, result?.milliseconds]);
  const shown = rolling.value;
  if (members === 0) return null;
  if (!shown || shown.stable.length === 0) {
    const why = refused.value ? told(refused.value.message) : undefined;
    return (
      <Figure title={t('rolling')} class="rolling-figure" table={null} sentence={why}>
        <p class="dim">{t('rolling.ask', { n: members })}</p>
        {!cheap && (
          <button type="button" onClick={load}>
            {t('rolling.compute')}
          </button>
        )}
      </Figure>
    );
  }
  const [a, b] = [shown.stable.at(-1)?.total ?? 0, shown.fresh.at(-1)?.total ?? 0];
  return (
    <Figure
      title={t('rolling')}
      file="rolling"
      class="rolling-figure"
      sentence={t('rolling.sentence', {
        name: shown.strategy,
        n: members,
        queues: countQueues(snapshot),
        stable: a,
        fresh: b,
      })}
      table={() => (
        <DataTable
          caption={t('rolling')}
          heads={[t('rolling.step'), t('rolling.stable'), t('rolling.fresh')]}
          rows={shown.stable.map((step, i) => [
            `${i + 1}. ${stepText(step.label)}`,
            step.total,
            shown.fresh[i]?.total ?? 0,
          ])}
        />
      )}
    >
      <Steps stable={shown.stable} fresh={shown.fresh} />
    </Figure>
  );
}

/** The engine's words for a step, in the page's language. */
function stepText(label: string): string {
  const ends = {
    ' stops': 'rolling.stops',
    ' starts': 'rolling.starts',
    ' is back under a new id': 'rolling.new',
  } as const;
  for (const [end, key] of Object.entries(ends) as [string, (typeof ends)[keyof typeof ends]][]) {
    if (label.endsWith(end)) return t(key, { id: visible(label.slice(0, -end.length)) });
  }
  return visible(label);
}

function Steps({ stable, fresh }: { stable: readonly RollStep[]; fresh: readonly RollStep[] }) {
  const id = useId();
  const [box, width] = useWidth<HTMLDivElement>();
  const last = Math.max(stable.length, fresh.length) - 1;
  const picked = useSignal(last);
  const plays = useSignal(false);
  const now = Math.min(picked.value, last);
  useEffect(() => {
    if (!plays.value) return;
    const timer = setInterval(() => {
      if (picked.value >= last) plays.value = false;
      else picked.value += 1;
    }, STEP_MS);
    return () => clearInterval(timer);
  }, [plays.value, last]);
  const top = Math.max(1, stable.at(-1)?.total ?? 0, fresh.at(-1)?.total ?? 0);
  const x = (step: number) => 8 + ((step + 1) / (last + 1)) * (width - 70);
  const y = (total: number) => HEIGHT - 12 - (total / top) * (HEIGHT - 30);
  const line = (steps: readonly RollStep[]) =>
    `M${x(-1)} ${y(0)}${steps.map(({ total }, i) => `L${x(i)} ${y(total)}`).join('')}`;
  const [a, b] = [stable[now], fresh[now]];
  return (
    <>
      <div ref={box}>
        {width > 0 && (
          <svg width={width} height={HEIGHT} aria-hidden="true">
            <line x1={x(now)} x2={x(now)} y1={6} y2={HEIGHT - 12} class="grid-line" />
            <path d={line(stable)} class="curve stable" />
            <path d={line(fresh)} class="curve fresh" />
            <circle cx={x(now)} cy={y(a?.total ?? 0)} r={4} class="dot" />
            <circle cx={x(now)} cy={y(b?.total ?? 0)} r={4} class="dot" />
            <text x={x(last) + 6} y={y(stable.at(-1)?.total ?? 0)} class="mark-text">
              {num(stable.at(-1)?.total ?? 0)}
            </text>
            <text
              x={x(last) + 6}
              y={y(fresh.at(-1)?.total ?? 0) - ((fresh.at(-1)?.total ?? 0) === (stable.at(-1)?.total ?? 0) ? 12 : 0)}
              class="mark-text"
            >
              {num(fresh.at(-1)?.total ?? 0)}
            </text>
            <line x1={0} x2={width} y1={HEIGHT - 12} y2={HEIGHT - 12} class="axis" />
          </svg>
        )}
      </div>
      <ul class="keys">
        <li>
          <span class="swatch line-stable" aria-hidden="true" /> {t('rolling.stable')}
        </li>
        <li>
          <span class="swatch line-fresh" aria-hidden="true" /> {t('rolling.fresh')}
        </li>
      </ul>
      <div class="controls">
        {!still.value && (
          <button
            type="button"
            onClick={() => {
              if (!plays.value && picked.value >= last) picked.value = 0;
              plays.value = !plays.value;
            }}
          >
            {plays.value ? t('rolling.pause') : t('rolling.play')}
          </button>
        )}
        <button type="button" onClick={() => (picked.value = Math.max(0, now - 1))} aria-label={t('rolling.back')}>
          ‹
        </button>
        <button type="button" onClick={() => (picked.value = Math.min(last, now + 1))} aria-label={t('rolling.next')}>
          ›
        </button>
        <label for={id}>{t('rolling.step')}</label>
        <input
          id={id}
          type="range"
          min={0}
          max={last}
          value={now}
          onInput={(event) => (picked.value = event.currentTarget.valueAsNumber)}
        />
        <span class="step-text">
          {now + 1}/{last + 1} <bdi>{stepText(a?.label ?? '')}</bdi>:{' '}
          {t('rolling.at', { stable: a?.total ?? 0, fresh: b?.total ?? 0 })}
        </span>
      </div>
    </>
  );
}
