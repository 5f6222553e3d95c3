/**
 * How owners are told apart: eight hues that colour-blind people can tell apart, then the same hues with a mark, and
 * the owner's number in each cell that has room. The hues are all light enough for black numbers on them.
 */
export const HUES = 8;
/** None, a dot, a bar across, a bar upright; hatches are kept for what moves. */
export const MARKS = 4;

export interface Look {
  hue: number;
  mark: number;
  number: number;
}

export function look(place: number): Look {
  return { hue: place % HUES, mark: Math.floor(place / HUES) % MARKS, number: place + 1 };
}

/** Canvas cannot read custom properties by itself. */
export function colours(element: Element) {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    hues: Array.from({ length: HUES }, (_, n) => read(`--owner-${n}`)),
    ink: read('--cell-ink'),
    line: read('--cell-line'),
    paper: read('--paper'),
    focus: read('--focus'),
  };
}
