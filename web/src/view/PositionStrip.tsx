import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { outcome } from '../state';
import { edit } from '../actions';
import { consumersAfter, setConsumersAfter, setJoining } from '../model/edit';
import { num, t } from '../i18n';
import { DataTable, Figure, useWidth } from './Figure';
import { visible } from './Name';

const HEIGHT = 110;

/** How much moves for each place at which one more id could sort. */
export function PositionStrip() {
  const id = useId();
  const strip = outcome.value?.strip;
  const picked = useSignal(0);
  const [box, width] = useWidth<HTMLDivElement>();
  if (!strip || strip.places.length < 2) return null;
  const { places, of } = strip;
  const now = Math.min(picked.value, places.length - 1);
  const place = places[now];
  if (!place) return null;
  const counts = places.map(({ moved }) => moved);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const step = width / places.length;
  const use = (id: string) => {
    edit((d) => {
      const grown =
        consumersAfter(d) > d.snapshot.consumers.length ? d : setConsumersAfter(d, d.snapshot.consumers.length + 1);
      return setJoining(grown, [id]);
    });
  };
  const y = (moved: number) => HEIGHT - 4 - (moved / Math.max(1, most)) * (HEIGHT - 26);
  return (
    <Figure
      title={t('strip')}
      file="positions"
      class="strip-figure"
      sentence={`${t('strip.sentence', { name: strip.strategy, min: least, max: most })} ${t('strip.order')}${places.length < of ? ` ${t('strip.sampled', { n: places.length, of })}` : ''}`}
      table={() => (
        <DataTable
          caption={t('strip')}
          heads={[t('strip.place'), t('strip.example'), t('col.moved')]}
          rows={places.map(({ at, id, moved }) => [at + 1, visible(id), moved])}
        />
      )}
    >
      <div ref={box}>
        {width > 0 && (
          <svg
            width={width}
            height={HEIGHT}
            aria-hidden="true"
            class="strip"
            onClick={(event) => {
              const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
              const at = Math.max(0, Math.min(places.length - 1, Math.floor(x / step)));
              picked.value = at;
              const id = places[at]?.id;
              if (id !== undefined) use(id);
            }}
          >
            {places.map(({ at, moved }, i) => (
              <g key={at}>
                <rect
                  x={i * step + Math.min(2, step * 0.1)}
                  y={y(moved)}
                  width={Math.max(1, step - Math.min(4, step * 0.2))}
                  height={HEIGHT - 4 - y(moved)}
                  class={i === now ? 'bar after' : 'bar before'}
                />
                {step > 20 && (
                  <text x={i * step + step / 2} y={y(moved) - 6} class="mark-text middle">
                    {num(moved)}
                  </text>
                )}
              </g>
            ))}
            <line x1={0} x2={width} y1={HEIGHT - 4} y2={HEIGHT - 4} class="axis" />
          </svg>
        )}
      </div>
      <div class="controls">
        <label for={id}>{t('strip.pick')}</label>
        <input
          id={id}
          type="range"
          min={0}
          max={places.length - 1}
          value={now}
          aria-valuetext={t('strip.value', { at: place.at + 1, of, n: place.moved })}
          onInput={(event) => (picked.value = event.currentTarget.valueAsNumber)}
        />
        <span>{t('strip.value', { at: place.at + 1, of, n: place.moved })}</span>
        <button type="button" onClick={() => use(place.id)}>
          {t('strip.use')}
        </button>
      </div>
    </Figure>
  );
}
