import { cellState, at, type Side } from '../../derive';
import type { Picture } from '../../worker/protocol';
import { HUES, look } from '../palette';
import { NUMBERED, type Geometry } from './geometry';

interface Props {
  picture: Picture;
  side: Side;
  g: Geometry;
  /** The member that stands out: others are dimmed. */
  place: number | null;
}

/** A map of up to a few thousand cells, as elements: sharp at any size, and saved as it is. */
export function CellsSvg({ picture, side, g, place }: Props) {
  const doubled = new Map(side === 'before' ? picture.doubledBefore : picture.doubledAfter);
  return (
    <svg width={g.width} height={g.height} aria-hidden="true" class="cells">
      <defs>
        <pattern id={`hatch-${side}`} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="2.2" height="6" class="hatch" />
        </pattern>
      </defs>
      {g.rows.flatMap((row, line) =>
        Array.from({ length: row.queues }, (_, n) => (
          <Cell
            key={row.first + n}
            picture={picture}
            side={side}
            g={g}
            cell={row.first + n}
            x={n * g.cell}
            y={line * g.cell}
            place={place}
            owners={doubled.get(row.first + n)}
          />
        )),
      )}
    </svg>
  );
}

interface CellProps extends Props {
  cell: number;
  x: number;
  y: number;
  owners: number[] | undefined;
}

function Cell({ picture, side, g, cell, x, y, place, owners }: CellProps) {
  const owner = at(picture[side], cell);
  if (owner === -2) return null;
  const s = g.cell;
  const { hue, mark, number } = look(Math.max(0, owner));
  const moved = side === 'after' && cellState(picture, cell) === 'moved';
  const dim = place !== null && owner !== place && !owners?.includes(place);
  const middle = { x: x + s / 2, y: y + s / 2 };
  return (
    <g class={dim ? 'cell dimmed' : 'cell'}>
      <rect
        x={x + 1}
        y={y + 1}
        width={s - 1.5}
        height={s - 1.5}
        rx={s > 10 ? 2 : 0}
        class={owner < 0 ? 'nobody' : `owner-${hue % HUES}`}
      />
      {moved && (
        <rect x={x + 1} y={y + 1} width={s - 1.5} height={s - 1.5} rx={s > 10 ? 2 : 0} fill={`url(#hatch-${side})`} />
      )}
      {owner >= 0 && mark === 1 && <circle cx={x + s - 4} cy={y + 4} r={1.8} class="ink" />}
      {owner >= 0 && mark === 2 && <rect x={x + 2} y={y + s - 4} width={s - 4} height={1.8} class="ink" />}
      {owner >= 0 && mark === 3 && <rect x={x + 2.4} y={y + 3} width={1.8} height={s - 6} class="ink" />}
      {place === owner && owner >= 0 && (
        <rect x={x + 1.5} y={y + 1.5} width={s - 2.5} height={s - 2.5} rx={2} class="ring" />
      )}
      {s >= NUMBERED && (
        <>
          {moved && (
            <circle
              cx={middle.x}
              cy={middle.y}
              r={Math.min(s * 0.36, 4 + 3 * String(number).length)}
              class={`owner-${hue} plain`}
            />
          )}
          <text x={middle.x} y={middle.y} font-size={s >= 22 ? 12 : 9} class="cell-text">
            {owner < 0 ? '∅' : owners ? `${number}×${owners.length}` : number}
          </text>
        </>
      )}
    </g>
  );
}
