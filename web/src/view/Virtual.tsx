import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface Props {
  label: string;
  heads: readonly string[];
  count: number;
  /** In CSS pixels; every row has it. */
  rowHeight: number;
  height: number;
  cells: (index: number) => readonly ComponentChildren[];
  class?: string;
}

/** Rows outside the window that are drawn all the same, so that scrolling shows no gap. */
const MARGIN = 8;

/** A table of any length of which only what can be seen is in the document. */
export function VirtualTable({ label, heads, count, rowHeight, height, cells, class: name = '' }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useEffect(() => {
    // A list that got shorter may leave the window behind its end.
    if (box.current && box.current.scrollTop !== top) setTop(box.current.scrollTop);
  }, [count]);
  const first = Math.max(0, Math.floor(top / rowHeight) - MARGIN);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + MARGIN);
  const rows = [];
  for (let i = first; i < last; i += 1) {
    rows.push(
      <div
        key={i}
        role="row"
        aria-rowindex={i + 2}
        class="vrow"
        style={{ transform: `translateY(${i * rowHeight}px)`, height: `${rowHeight}px` }}
      >
        {cells(i).map((cell, j) => (
          <div role="cell" key={j} class="vcell" data-head={heads[j]}>
            {cell}
          </div>
        ))}
      </div>,
    );
  }
  return (
    <div role="table" aria-label={label} aria-rowcount={count + 1} class={`virtual ${name}`}>
      <div role="rowgroup" class="vhead">
        <div role="row" aria-rowindex={1} class="vrow">
          {heads.map((head) => (
            <div role="columnheader" class="vcell" key={head}>
              {head}
            </div>
          ))}
        </div>
      </div>
      <div
        ref={box}
        role="rowgroup"
        class="vbody"
        tabIndex={0}
        aria-label={label}
        style={{ maxHeight: `${height}px` }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <div role="presentation" class="vspace" style={{ height: `${count * rowHeight}px` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}
