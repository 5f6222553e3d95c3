/** Markdown for a change ticket: the verdict, the strategies, the moves. */
import type { MoveRow } from '../derive';
import { t } from '../i18n';
import type { Outcome } from '../state';
import { cell, inline, markdownTable } from './markup';
import { handedOver, rangeText, verdict } from '../words';
import type { Picture } from '../worker/protocol';

/** More moves than this are left to the CSV file. */
const MOST_MOVES = 200;

export function ticketMarkdown(outcome: Outcome, moves: readonly MoveRow[]): string {
  const { snapshot } = outcome.doc;
  const text = verdict(outcome);
  const rows = [...outcome.rows.values()].flatMap(({ result, unknown }) =>
    result ? { ...result, range: unknown ?? result.moved } : [],
  );
  const parts = [
    `## ${cell(snapshot.group ?? t('group.unnamed'))}: ${outcome.selected}`,
    text ? `${inline(text.main)}\n${inline(text.more.join(' '))}` : '',
    markdownTable(
      [t('strategy'), t('col.moved'), t('col.range'), t('col.skew'), t('col.idle'), t('churn.floor')],
      rows.map((r) =>
        [
          r.strategy,
          handedOver(r, outcome.doc.changes),
          rangeText(r.range),
          r.perConsumer.skew,
          r.perConsumer.idle.length,
          r.floor,
        ].map(String),
      ),
    ),
    outcome.picture && moves.length > 0 ? movesMarkdown(outcome.picture, moves) : '',
  ];
  return parts.filter(Boolean).join('\n\n') + '\n';
}

export function movesMarkdown(picture: Picture, moves: readonly MoveRow[]): string {
  const name = (at: number) => picture.members[at]?.id ?? t('map.nobody');
  const rows = moves
    .slice(0, MOST_MOVES)
    .map(({ row, queue, from, to }) => [`${row.topic} ${row.broker}/${queue}`, name(from), name(to)]);
  const table = markdownTable([t('queue'), t('from'), t('to')], rows);
  return moves.length > MOST_MOVES ? `${table}\n\n${t('table.cut', { n: MOST_MOVES, total: moves.length })}` : table;
}
