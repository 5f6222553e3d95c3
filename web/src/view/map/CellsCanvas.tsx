import { useEffect, useRef } from 'preact/hooks';
import { at, cellState, type Side } from '../../derive';
import { theme } from '../../settings';
import type { Picture } from '../../worker/protocol';
import { colours, look } from '../palette';
import { NUMBERED, type Geometry } from './geometry';

interface Props {
  picture: Picture;
  side: Side;
  g: Geometry;
  place: number | null;
}

/** A map of very many cells, painted. Browsers refuse canvases of more than 16,384 points a side. */
const MOST_POINTS = 16_000;

export function CellsCanvas({ picture, side, g, place }: Props) {
  const ref = useRef<HTMLCanvasElement>(null);
  const look = theme.value;
  useEffect(() => {
    const draw = () => {
      if (ref.current) paint(ref.current, picture, side, g, place);
    };
    draw();
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', draw);
    return () => system.removeEventListener('change', draw);
  }, [picture, side, g.cell, g.width, g.height, place, look]);
  return (
    <canvas ref={ref} aria-hidden="true" class="cells" style={{ width: `${g.width}px`, height: `${g.height}px` }} />
  );
}

function paint(canvas: HTMLCanvasElement, picture: Picture, side: Side, g: Geometry, place: number | null): void {
  const scale = Math.min(window.devicePixelRatio || 1, MOST_POINTS / Math.max(g.width, g.height));
  canvas.width = Math.ceil(g.width * scale);
  canvas.height = Math.ceil(g.height * scale);
  const c = canvas.getContext('2d');
  if (!c) return;
  const colour = colours(canvas);
  c.scale(scale, scale);
  c.clearRect(0, 0, g.width, g.height);
  const gap = g.cell >= 6 ? 1 : 0.5;
  const size = g.cell - gap;
  c.textAlign = 'center';
  c.textBaseline = 'middle';
  c.font = '9px system-ui, sans-serif';
  g.rows.forEach((row, line) => {
    for (let n = 0; n < row.queues; n += 1) {
      const cell = row.first + n;
      const owner = at(picture[side], cell);
      if (owner === -2) continue;
      const [x, y] = [n * g.cell + gap, line * g.cell + gap];
      const { hue, mark, number } = look(Math.max(0, owner));
      c.globalAlpha = place !== null && owner !== place ? 0.2 : 1;
      c.fillStyle = owner < 0 ? colour.paper : (colour.hues[hue] ?? colour.line);
      c.fillRect(x, y, size, size);
      c.fillStyle = colour.ink;
      if (owner < 0) {
        c.strokeStyle = colour.line;
        c.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
      } else if (g.cell >= 8) {
        if (mark === 1) c.fillRect(x + size - 3, y + 1, 2, 2);
        if (mark === 2) c.fillRect(x + 1, y + size - 2, size - 2, 1);
        if (mark === 3) c.fillRect(x + 1, y + 1, 1, size - 2);
      }
      if (side === 'after' && cellState(picture, cell) === 'moved') {
        c.strokeStyle = colour.ink;
        c.lineWidth = g.cell >= 8 ? 1.4 : 1;
        c.beginPath();
        c.moveTo(x, y + size);
        c.lineTo(x + size, y);
        c.stroke();
      }
      if (g.cell >= NUMBERED && owner >= 0) {
        c.fillStyle = colour.ink;
        c.fillText(String(number), x + size / 2, y + size / 2);
      }
    }
  });
  c.globalAlpha = 1;
}
