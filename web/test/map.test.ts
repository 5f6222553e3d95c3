import { expect, test } from 'vitest';
import { fitting, geometry, keyed, SIZES, spotAt } from '../src/view/map/geometry';
import { look } from '../src/view/palette';

const rows = [
  { topic: 't', broker: 'a', first: 0, queues: 8 },
  { topic: 't', broker: 'b', first: 8, queues: 3 },
];
const g = geometry(rows, 20);

test('a point is a cell only where there is one', () => {
  expect(spotAt(g, 45, 5)).toEqual({ row: 0, column: 2 });
  expect(spotAt(g, 159, 25)).toBeNull();
  expect(spotAt(g, 5, 999)).toBeNull();
});

test('keys lead where the grid pattern says, and never out of a row', () => {
  const from = { row: 0, column: 7 };
  expect(keyed(g, from, 'ArrowDown', false)).toEqual({ row: 1, column: 2 });
  expect(keyed(g, from, 'ArrowRight', false)).toEqual(from);
  expect(keyed(g, from, 'Home', false)).toEqual({ row: 0, column: 0 });
  expect(keyed(g, { row: 0, column: 0 }, 'End', true)).toEqual({ row: 1, column: 2 });
  expect(keyed(g, from, 'PageDown', false)?.row).toBe(1);
  expect(keyed(g, from, 'x', false)).toBeNull();
});

test('few queues have cells with numbers, very many cells of a few points', () => {
  expect(fitting(rows, 400)).toBeGreaterThanOrEqual(16);
  const many = Array.from({ length: 64 }, (_, n) => ({ topic: 't', broker: `b${n}`, first: n * 157, queues: 157 }));
  const size = fitting(many, 700);
  expect(size).toBeGreaterThanOrEqual(3);
  expect(size).toBeLessThanOrEqual(8);
  expect(SIZES).toContain(size);
});

test('owners beyond the eight hues have a mark, and all have their number', () => {
  expect(look(0)).toEqual({ hue: 0, mark: 0, number: 1 });
  expect(look(8)).toEqual({ hue: 0, mark: 1, number: 9 });
  expect(look(999).number).toBe(1000);
});
