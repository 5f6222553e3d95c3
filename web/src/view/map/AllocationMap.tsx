import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { cellSize, mapSide, member, type MapSide } from '../../state';
import { at, cellState, listedRows, memberPlace, moves, picture, type Side } from '../../derive';
import { t } from '../../i18n';
import type { MapRow, Picture } from '../../worker/protocol';
import { DataTable, Figure, useWidth } from '../Figure';
import { visible } from '../Name';
import { CellsCanvas } from './CellsCanvas';
import { CellsSvg } from './CellsSvg';
import { fitting, geometry, keyed, MOST_ELEMENTS, SIZES, spotAt, type Geometry, type Spot } from './geometry';

const SIDES: readonly MapSide[] = ['before', 'after', 'both'];
const MOST_TABLE_ROWS = 2_000;

/** One cell a queue, a line a broker: who owns what, and what moves. */
export function AllocationMap() {
  const shown = picture.value;
  if (!shown) return null;
  return (
    <Figure
      title={t('map')}
      sentence={sentence(shown)}
      table={() => <AsTable picture={shown} />}
      file="allocation"
      actions={<Sides />}
      class="map-figure"
    >
      <Maps picture={shown} />
      <ul class="keys" aria-label={t('map.keys')}>
        <li>
          <span class="badge hue-0" aria-hidden="true" /> {t('map.stays')}
        </li>
        <li>
          <span class="badge hue-0 hatched" aria-hidden="true" /> {t('map.moves')}
        </li>
        {[...shown.after, ...shown.before].includes(-1) && (
          <li>
            <span class="badge nobody" aria-hidden="true">
              ∅
            </span>{' '}
            {t('map.nobody')}
          </li>
        )}
      </ul>
    </Figure>
  );
}

function sentence(shown: Picture): string {
  const text = t('map.sentence', { n: moves.value.length, total: shown.before.filter((owner) => owner !== -2).length });
  return shown.assumed ? `${text} ${t('map.assumed')}` : text;
}

function Sides() {
  return (
    <span class="segments" role="group" aria-label={t('map.side')}>
      {SIDES.map((side) => (
        <button type="button" key={side} aria-pressed={mapSide.value === side} onClick={() => (mapSide.value = side)}>
          {t(`map.${side}`)}
        </button>
      ))}
    </span>
  );
}

function Maps({ picture }: { picture: Picture }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const labels = Math.min(170, Math.max(80, width * 0.24));
  const fit = width > 0 ? fitting(listedRows.value, width - labels - 4) : 0;
  const size = cellSize.value ?? fit;
  const sides: Side[] = mapSide.value === 'both' ? ['before', 'after'] : [mapSide.value];
  const zoom = (by: number) => {
    const now = SIZES.findIndex((one) => one >= size);
    cellSize.value = SIZES[Math.max(0, Math.min(SIZES.length - 1, now + by))] ?? size;
  };
  return (
    <div ref={box}>
      {fit > 0 &&
        sides.map((side) => (
          <div key={side}>
            {sides.length > 1 && <h3>{t(`map.${side}`)}</h3>}
            <Grid picture={picture} side={side} size={size} labels={labels} />
          </div>
        ))}
      <p class="tools zoom">
        <button type="button" class="quiet" onClick={() => zoom(-1)} aria-label={t('map.smaller')}>
          −
        </button>
        <button type="button" class="quiet" onClick={() => (cellSize.value = null)}>
          {t('map.fit')}
        </button>
        <button type="button" class="quiet" onClick={() => zoom(1)} aria-label={t('map.larger')}>
          +
        </button>
      </p>
    </div>
  );
}

interface GridProps {
  picture: Picture;
  side: Side;
  size: number;
  labels: number;
}

/** One tab stop; the cell that arrows have come to is the only one that assistive technology is given. */
function Grid({ picture, side, size, labels }: GridProps) {
  const id = useId();
  const scroll = useRef<HTMLDivElement>(null);
  const spot = useSignal<Spot | null>(null);
  const g = geometry(listedRows.value, size);
  const large = picture.before.length > MOST_ELEMENTS;
  const here = spot.value && g.rows[spot.value.row] ? spot.value : null;
  const row = here ? g.rows[here.row] : undefined;
  const text = here && row ? cellText(picture, row, here.column) : '';
  const Cells = large ? CellsCanvas : CellsSvg;
  const go = (to: Spot) => {
    spot.value = to;
    const view = scroll.current;
    if (!view) return;
    const x = to.column * g.cell;
    if (x < view.scrollLeft) view.scrollLeft = x;
    else if (x + g.cell > view.scrollLeft + view.clientWidth) view.scrollLeft = x + g.cell - view.clientWidth;
  };
  const pin = (to: Spot) => {
    const line = g.rows[to.row];
    const owner = line ? at(picture[side], line.first + to.column) : -1;
    const id = picture.members[owner]?.id ?? null;
    member.value = member.value === id ? null : id;
  };
  return (
    <>
      <div class="map-box">
        <Labels g={g} width={labels} />
        <div
          ref={scroll}
          class="map-scroll"
          role="grid"
          tabIndex={0}
          aria-label={t('map.grid', { side: t(`map.${side}`) })}
          aria-rowcount={g.rows.length}
          aria-colcount={g.columns}
          aria-activedescendant={here ? `${id}cell` : undefined}
          aria-describedby={`${id}help`}
          onFocus={() => (spot.value ??= { row: 0, column: 0 })}
          onKeyDown={(event) => {
            const now = spot.value ?? { row: 0, column: 0 };
            const to = keyed(g, now, event.key, event.ctrlKey || event.metaKey);
            if (to) go(to);
            else if (event.key === 'Enter') pin(now);
            else if (event.key === 'Escape') member.value = null;
            else return;
            event.preventDefault();
          }}
          onClick={(event) => {
            const at = event.currentTarget.getBoundingClientRect();
            const to = spotAt(g, event.clientX - at.left + event.currentTarget.scrollLeft, event.clientY - at.top);
            if (!to) return;
            spot.value = to;
            pin(to);
          }}
        >
          <div class="map-sheet" style={{ width: `${g.width}px`, height: `${g.height}px` }} role="presentation">
            <Cells picture={picture} side={side} g={g} place={memberPlace.value} />
            {here && (
              <span
                class="map-spot"
                aria-hidden="true"
                style={{
                  left: `${here.column * g.cell}px`,
                  top: `${here.row * g.cell}px`,
                  width: `${g.cell}px`,
                  height: `${g.cell}px`,
                }}
              />
            )}
          </div>
          <div role="row" class="unseen" aria-rowindex={(here?.row ?? 0) + 1}>
            <span
              role="gridcell"
              id={`${id}cell`}
              aria-colindex={(here?.column ?? 0) + 1}
              aria-selected={member.value !== null}
            >
              {text}
            </span>
          </div>
        </div>
      </div>
      <p class="map-detail" id={`${id}help`}>
        {text || t('map.help')}
      </p>
    </>
  );
}

function Labels({ g, width }: { g: Geometry; width: number }) {
  const topics = new Set(g.rows.map(({ topic }) => topic)).size;
  const every = Math.ceil(14 / g.cell);
  return (
    <div class="map-labels" aria-hidden="true" style={{ width: `${width}px`, height: `${g.height}px` }}>
      {g.rows.map((row, line) => {
        if (line % every !== 0) return null;
        const text = visible(topics > 1 ? `${row.topic} · ${row.broker}` : row.broker);
        const height = g.cell * every;
        return (
          <bdi
            key={line}
            title={text}
            style={{ top: `${line * g.cell}px`, height: `${height}px`, lineHeight: `${height}px` }}
          >
            {text}
          </bdi>
        );
      })}
    </div>
  );
}

function cellText(picture: Picture, row: MapRow, queue: number): string {
  const cell = row.first + queue;
  const name = visible(`${row.topic} ${row.broker}/${queue}`);
  const values = { queue: name, from: ownerText(picture, 'before', cell), to: ownerText(picture, 'after', cell) };
  return t(`cell.${cellState(picture, cell)}`, values);
}

function ownerText(picture: Picture, side: Side, cell: number): string {
  const owner = at(picture[side], cell);
  const doubled = (side === 'before' ? picture.doubledBefore : picture.doubledAfter).find(([one]) => one === cell);
  const names = (doubled?.[1] ?? [owner]).map((one) => picture.members[one]?.id);
  return visible(names.map((id) => id ?? t('map.nobody')).join(' + '));
}

function AsTable({ picture }: { picture: Picture }) {
  const rows = listedRows.value.flatMap((row) =>
    Array.from({ length: row.queues }, (_, queue) => [
      visible(`${row.topic} ${row.broker}/${queue}`),
      ownerText(picture, 'before', row.first + queue),
      ownerText(picture, 'after', row.first + queue),
    ]),
  );
  return (
    <>
      <DataTable
        caption={t('map')}
        heads={[t('queue'), t('map.before'), t('map.after')]}
        rows={rows.slice(0, MOST_TABLE_ROWS)}
      />
      {rows.length > MOST_TABLE_ROWS && (
        <p class="hint">{t('table.cut', { n: MOST_TABLE_ROWS, total: rows.length })}</p>
      )}
    </>
  );
}
