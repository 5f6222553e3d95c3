import { num, t } from '../i18n';
import { pairsOf, type MoveRow, type Pair } from '../derive';
import type { Picture } from '../worker/protocol';
import { useWidth } from './Figure';
import { look } from './palette';
import { visible } from './Name';

/** So many members a side; the others are one band. */
const MOST_ENDS = 16;
/** What all bands together are thick, and the least room of an end, so that labels do not touch. */
const THICK = 150;
const SLOT = 18;
const OTHERS = -3;

interface End {
  place: number;
  text: string;
  count: number;
  /** Where its bands begin, from the top. */
  y: number;
  /** How much of it is taken by bands that were drawn already. */
  used: number;
}

/** Bands from old owners on the left to new ones on the right, as thick as what moves. The table below says it all. */
export function Bands({ picture, moves }: { picture: Picture; moves: readonly MoveRow[] }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const total = moves.length;
  if (total === 0) return null;
  const all = pairsOf(moves);
  const scale = THICK / total;
  const lefts = ends(
    picture,
    all.map(({ from, count }) => [from, count]),
    scale,
  );
  const rights = ends(
    picture,
    all.map(({ to, count }) => [to, count]),
    scale,
  );
  const height = Math.max(bottom(lefts, scale), bottom(rights, scale));
  const label = Math.min(190, Math.max(70, width * 0.28));
  const [x1, x2] = [label + 6, width - label - 6];
  const bend = (x2 - x1) / 2;
  return (
    <div ref={box} class="bands" aria-hidden="true">
      {width > 0 && (
        <svg width={width} height={height} role="presentation">
          {between(all, lefts, rights).map(({ from, to, count }) => {
            const thick = count * scale;
            const [y1, y2] = [from.y + from.used + thick / 2, to.y + to.used + thick / 2];
            from.used += thick;
            to.used += thick;
            const hue = to.place < 0 ? 7 : look(to.place).hue;
            return (
              <path
                key={`${from.place}>${to.place}`}
                d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
                stroke-width={Math.max(1, thick)}
                class={`band stroke-${hue}`}
              />
            );
          })}
          {lefts.map((end) => (
            <EndLabel key={end.place} end={end} x={label} anchor="end" scale={scale} width={label} />
          ))}
          {rights.map((end) => (
            <EndLabel key={end.place} end={end} x={width - label} anchor="start" scale={scale} width={label} />
          ))}
        </svg>
      )}
    </div>
  );
}

/** The ends of one side from top to bottom, in the order of members. */
function ends(picture: Picture, parts: [place: number, count: number][], scale: number): End[] {
  const sums = new Map<number, number>();
  for (const [place, count] of parts) sums.set(place, (sums.get(place) ?? 0) + count);
  const biggest = [...sums].sort((a, b) => b[1] - a[1]);
  const shown = biggest.slice(0, MOST_ENDS).sort((a, b) => a[0] - b[0]);
  const others = biggest.slice(MOST_ENDS);
  const list = shown.map(([place, count]) => ({
    place,
    text: picture.members[place]?.id ?? t('map.nobody'),
    count,
    y: 0,
    used: 0,
  }));
  if (others.length > 0) {
    const count = others.reduce((sum, [, one]) => sum + one, 0);
    list.push({ place: OTHERS, text: t('bands.others', { n: others.length }), count, y: 0, used: 0 });
  }
  let y = 0;
  for (const end of list) {
    const slot = Math.max(SLOT, end.count * scale + 4);
    end.y = y + (slot - end.count * scale) / 2;
    y += slot;
  }
  return list;
}

function bottom(ends: readonly End[], scale: number): number {
  const last = ends.at(-1);
  return last ? last.y + Math.max(SLOT, last.count * scale + 4) : 0;
}

/** Pairs whose ends are not shown by themselves are one band. */
function between(pairs: readonly Pair[], lefts: End[], rights: End[]) {
  const find = (list: End[]) => {
    const byPlace = new Map(list.map((end) => [end.place, end]));
    return (place: number) => byPlace.get(place) ?? byPlace.get(OTHERS);
  };
  const [left, right] = [find(lefts), find(rights)];
  const bands = new Map<string, { from: End; to: End; count: number }>();
  for (const pair of pairs) {
    const [from, to] = [left(pair.from), right(pair.to)];
    if (!from || !to) continue;
    const key = `${from.place}>${to.place}`;
    const band = bands.get(key);
    if (band) band.count += pair.count;
    else bands.set(key, { from, to, count: pair.count });
  }
  return [...bands.values()].sort((a, b) => a.from.y - b.from.y || a.to.y - b.to.y);
}

/** Names are cut by their number of characters here, since drawn text cannot be cut otherwise. */
function EndLabel({
  end,
  x,
  anchor,
  scale,
  width,
}: {
  end: End;
  x: number;
  anchor: 'start' | 'end';
  scale: number;
  width: number;
}) {
  const most = Math.max(4, Math.floor(width / 7.2) - 4);
  const name = visible(end.text);
  const text = name.length > most ? `${[...name].slice(0, most - 1).join('')}…` : name;
  const middle = end.y + (end.count * scale) / 2;
  return (
    <text x={x} y={middle} text-anchor={anchor} class="mark-text">
      {anchor === 'end' ? `${text} −${num(end.count)}` : `+${num(end.count)} ${text}`}
    </text>
  );
}
