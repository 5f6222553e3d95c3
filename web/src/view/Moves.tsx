import { computed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { doc, movesFilter, showRetry } from '../state';
import { copy, download } from '../actions';
import { hasRetry, listedMoves, moves, pairsOf, picture, type MoveRow } from '../derive';
import { movesCsv } from '../export/csv';
import { movesMarkdown } from '../export/markdown';
import { num, t } from '../i18n';
import { narrow } from '../screen';
import type { Picture } from '../worker/protocol';
import { Bands } from './Bands';
import { Badge, Name } from './Name';
import { VirtualTable } from './Virtual';

/** Above so many moves, pairs of members are shown first. */
const SUMMED = 300;

/** The filter looks at names as they are; case does not matter. */
const filtered = computed<readonly MoveRow[]>(() => {
  const wanted = movesFilter.value.trim().toLowerCase();
  const shown = picture.value;
  if (!wanted || !shown) return listedMoves.value;
  const name = (at: number) => shown.members[at]?.id.toLowerCase() ?? '';
  return listedMoves.value.filter(({ row, queue, from, to }) => {
    const queueName = `${row.topic} ${row.broker}/${queue}`.toLowerCase();
    return queueName.includes(wanted) || name(from).includes(wanted) || name(to).includes(wanted);
  });
});

export function Moves() {
  const shown = picture.value;
  const summed = useSignal(false);
  const many = moves.value.length > SUMMED;
  useEffect(() => {
    summed.value = many;
  }, [many]);
  if (!shown) return null;
  const group = doc.value.snapshot.group ?? 'group';
  return (
    <section class="card moves" id="moves" aria-labelledby="moves-head" tabIndex={-1}>
      <div class="figure-head">
        <h2 id="moves-head">{t('moves', { n: moves.value.length })}</h2>
        <div class="tools">
          <label class="filter">
            <span class="unseen">{t('moves.filter')}</span>
            <input
              id="moves-filter"
              type="search"
              placeholder={t('moves.filter')}
              value={movesFilter.value}
              onInput={(event) => (movesFilter.value = event.currentTarget.value)}
            />
          </label>
          <button
            type="button"
            class="quiet"
            aria-pressed={summed.value}
            onClick={() => (summed.value = !summed.value)}
          >
            {t('moves.summed')}
          </button>
          <button type="button" class="quiet" onClick={() => void copy(movesMarkdown(shown, filtered.value))}>
            {t('copy')}
          </button>
          <button
            type="button"
            class="quiet"
            onClick={() => download(`${group}-moves.csv`, movesCsv(shown, filtered.value), 'text/csv')}
          >
            CSV
          </button>
        </div>
      </div>
      {moves.value.length === 0 ? (
        <p class="dim">{t('moves.none')}</p>
      ) : (
        <>
          <Bands picture={shown} moves={filtered.value} />
          {summed.value ? (
            <PairTable picture={shown} moves={filtered.value} />
          ) : (
            <QueueTable picture={shown} moves={filtered.value} />
          )}
        </>
      )}
      {hasRetry.value && (
        <p class="hint">
          {!showRetry.value && t('retry', { n: moves.value.length - listedMoves.value.length })}{' '}
          <label>
            <input
              type="checkbox"
              checked={showRetry.value}
              onChange={(event) => (showRetry.value = event.currentTarget.checked)}
            />{' '}
            {t('retry.show')}
          </label>
        </p>
      )}
      <p class="sentence">{shown.assumed ? `${t('moves.sentence')} ${t('map.assumed')}` : t('moves.sentence')}</p>
    </section>
  );
}

interface TableProps {
  picture: Picture;
  moves: readonly MoveRow[];
}

function QueueTable({ picture, moves }: TableProps) {
  const several = new Set(picture.rows.map(({ topic }) => topic)).size > 1;
  return (
    <VirtualTable
      label={t('moves', { n: moves.length })}
      heads={[t('queue'), t('from'), t('to')]}
      count={moves.length}
      rowHeight={narrow.value ? 92 : 34}
      height={narrow.value ? 460 : 374}
      class="stacked"
      cells={(i) => {
        const move = moves[i];
        if (!move) return [];
        const queue = `${move.row.broker}/${move.queue}`;
        return [
          <Name>{several ? `${move.row.topic} ${queue}` : queue}</Name>,
          <Owner picture={picture} at={move.from} />,
          <Owner picture={picture} at={move.to} />,
        ];
      }}
    />
  );
}

function PairTable({ picture, moves }: TableProps) {
  const pairs = pairsOf(moves);
  return (
    <VirtualTable
      label={t('moves.pairs', { n: pairs.length })}
      heads={[t('from'), t('to'), t('queues')]}
      count={pairs.length}
      rowHeight={narrow.value ? 92 : 34}
      height={narrow.value ? 460 : 374}
      class="stacked"
      cells={(i) => {
        const pair = pairs[i];
        if (!pair) return [];
        return [<Owner picture={picture} at={pair.from} />, <Owner picture={picture} at={pair.to} />, num(pair.count)];
      }}
    />
  );
}

function Owner({ picture, at }: { picture: Picture; at: number }) {
  const one = picture.members[at];
  if (!one) return <span class="dim">{t('map.nobody')}</span>;
  return (
    <span class="owner">
      <Badge place={at} />
      <Name>{one.id}</Name>
    </span>
  );
}
