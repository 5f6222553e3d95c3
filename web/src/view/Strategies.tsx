import { available, dialog, doc, outcome, pinned, selected } from '../state';
import { choose } from '../actions';
import { runningName } from '../model/doc';
import { STRATEGY_NAMES } from '../model/names';
import { num, t, told, type Key } from '../i18n';
import { handedOver, rangeText, rolls } from '../words';
import type { StrategyName } from '../types';
import type { DatedRow } from '../state';
import { visible } from './Name';

/** One line a strategy; a line is picked to be what map, moves and verdict are about. */
export function Strategies() {
  const running = runningName(doc.value.snapshot);
  const usable = new Set(available.value.map(({ name }) => name));
  const isRoll = rolls(doc.value.changes);
  const compared = pinned.value !== null;
  return (
    <section class="strategies card" aria-labelledby="strategies-head">
      <div class="figure-head">
        <h2 id="strategies-head">{t('strategies')}</h2>
        <div class="tools">
          <button type="button" class="quiet" aria-haspopup="dialog" onClick={() => (dialog.value = 'strategy')}>
            {t('strategies.settings')}
          </button>
        </div>
      </div>
      <table class="data strategy-table" role="table">
        <caption class="unseen">{t('strategies.caption')}</caption>
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">
              {t('strategy')}
            </th>
            <th role="columnheader" scope="col" class="number">
              {isRoll ? t('col.handed') : t('col.moved')}
            </th>
            <th role="columnheader" scope="col" class="number">
              {t('col.range')}
            </th>
            <th role="columnheader" scope="col" class="number">
              {t('col.skew')}
            </th>
            <th role="columnheader" scope="col" class="number">
              {t('col.idle')}
            </th>
            {compared && (
              <th role="columnheader" scope="col" class="number">
                {t('col.pinned')}
              </th>
            )}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {STRATEGY_NAMES.map((name, i) => (
            <Line
              key={name}
              name={name}
              number={i + 1}
              row={usable.has(name) ? outcome.value?.rows.get(name) : undefined}
              usable={usable.has(name)}
              running={name === running}
            />
          ))}
        </tbody>
      </table>
      <p class="sentence">{sentence()}</p>
    </section>
  );
}

interface LineProps {
  name: StrategyName;
  number: number;
  row: DatedRow | undefined;
  usable: boolean;
  running: boolean;
}

function Line({ name, number, row, usable, running }: LineProps) {
  const result = row?.result;
  const isSelected = selected.value === name;
  const before = pinned.value?.rows.get(name)?.result;
  const old = row && row.of !== doc.value ? ' old' : '';
  return (
    <tr role="row" class={`${isSelected ? 'selected' : ''}${old}`}>
      <th role="rowheader" scope="row">
        <label class="pick">
          <input
            type="radio"
            name="strategy"
            checked={isSelected}
            disabled={!usable}
            onChange={() => choose(name)}
            aria-keyshortcuts={String(number)}
          />
          <span>{name}</span>
          {running && <span class="tag">{t('running')}</span>}
        </label>
      </th>
      {result ? (
        <>
          <td role="cell" class="number" data-head={t('col.moved')}>
            {num(handedOver(result, row?.of.changes ?? []))}
          </td>
          <td role="cell" class="number" data-head={t('col.range')}>
            {rangeText(row?.unknown ?? result.moved)}
          </td>
          <td role="cell" class="number" data-head={t('col.skew')}>
            {num(result.perConsumer.skew)}
          </td>
          <td role="cell" class="number" data-head={t('col.idle')}>
            {num(result.perConsumer.idle.length)}
          </td>
        </>
      ) : (
        <td role="cell" colSpan={4} class="dim note">
          {!usable ? (
            <>
              {t(`needs.${name}` as Key)}{' '}
              <button type="button" class="link" onClick={() => (dialog.value = 'strategy')}>
                {t('needs.add')}
                <span class="unseen"> {name}</span>
              </button>
            </>
          ) : row?.refusal ? (
            visible(told(row.refusal.message))
          ) : (
            '…'
          )}
        </td>
      )}
      {pinned.value && (
        <td role="cell" class="number" data-head={t('col.pinned')}>
          {before ? num(handedOver(before, pinned.value?.doc.changes ?? [])) : '–'}
        </td>
      )}
    </tr>
  );
}

function sentence(): string {
  const rows = [...(outcome.value?.rows.values() ?? [])].flatMap(({ result }) => result ?? []);
  const best = rows.reduce<(typeof rows)[number] | null>(
    (a, b) => (a && a.moved.typical <= b.moved.typical ? a : b),
    null,
  );
  if (!best || doc.value.changes.length === 0) return t('strategies.none');
  const floor = rows.find(({ strategy }) => strategy === selected.value)?.floor ?? best.floor;
  return t('strategies.sentence', {
    name: best.strategy,
    n: best.moved.typical,
    skew: best.perConsumer.skew,
    from: selected.value,
    floor,
  });
}
