import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../i18n';
import { savePicture } from '../export/picture';

interface Props {
  title: string;
  /** The picture in words. */
  sentence?: string | undefined;
  /** The picture as a table; null if it is one. */
  table: (() => VNode) | null;
  /** File name without its end; none if there is nothing to save. */
  file?: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}

/** A picture with its heading, its sentence, its table, and its files. */
export function Figure({ title, sentence, table, file, actions, children, class: name = '' }: Props) {
  const id = useId();
  const asTable = useSignal(false);
  const body = useRef<HTMLDivElement>(null);
  const save = (kind: 'svg' | 'png') => {
    if (body.current && file) void savePicture(body.current, file, kind);
  };
  return (
    <section class={`figure card ${name}`} aria-labelledby={id}>
      <div class="figure-head">
        <h2 id={id}>{title}</h2>
        <div class="tools">
          {actions}
          {table && (
            <button
              type="button"
              class="quiet"
              aria-pressed={asTable.value}
              onClick={() => (asTable.value = !asTable.value)}
            >
              {t('figure.table')}
            </button>
          )}
          {file && !asTable.value && (
            <>
              <button
                type="button"
                class="quiet"
                onClick={() => save('svg')}
                aria-label={t('figure.save', { kind: 'SVG', title })}
              >
                SVG
              </button>
              <button
                type="button"
                class="quiet"
                onClick={() => save('png')}
                aria-label={t('figure.save', { kind: 'PNG', title })}
              >
                PNG
              </button>
            </>
          )}
        </div>
      </div>
      <div ref={body} class="figure-body">
        {asTable.value && table ? (
          <div class="scroll" tabIndex={0} role="group" aria-label={title}>
            {table()}
          </div>
        ) : (
          children
        )}
      </div>
      {sentence && <p class="sentence">{sentence}</p>}
    </section>
  );
}

/** The width of an element in CSS pixels, followed; 0 before it is known. */
export function useWidth<T extends HTMLElement>() {
  const [element, setElement] = useState<T | null>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!element) return;
    const measure = () => setWidth(Math.floor(element.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return [setElement as (element: T | null) => void, width] as const;
}

export function DataTable({ caption, heads, rows }: { caption: string; heads: string[]; rows: (string | number)[][] }) {
  return (
    <table class="data">
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {heads.map((head) => (
            <th scope="col" key={head}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            {row.map((cell, j) =>
              j === 0 ? (
                <th scope="row" key={j}>
                  <bdi>{cell}</bdi>
                </th>
              ) : (
                <td key={j} class={typeof cell === 'number' ? 'number' : ''}>
                  <bdi>{cell}</bdi>
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
