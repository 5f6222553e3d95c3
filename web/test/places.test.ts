import { expect, test } from 'vitest';
import { idAt, spread } from '../src/worker/places';

test('an id is found for every place, in the order of code units', () => {
  const ids = ['10.0.0.10@1', '10.0.0.100@1', '10.0.0.9@1', 'host', 'host-a', '甲'].sort();
  for (let at = 0; at <= ids.length; at += 1) {
    const id = idAt(ids, at);
    expect(id).not.toBeNull();
    expect([...ids, id].sort().indexOf(id)).toBe(at);
  }
});

test('no id is made up where none fits', () => {
  expect(idAt(['a', 'a\u0000'], 1)).toBeNull();
});

test('places are spread from the first to the last', () => {
  expect(spread(3, 10)).toEqual([0, 1, 2, 3]);
  const some = spread(1000, 101);
  expect(some).toHaveLength(101);
  expect([some[0], some.at(-1)]).toEqual([0, 1000]);
});
