import { doc } from '../state';
import { num, t, told } from '../i18n';
import type { Source } from '../model/doc';
import { visible } from './Name';

const MOST_PROBLEMS = 50;

/** One chip a paste: what it was and what it gave; yellow, and with a list, if lines were skipped. */
export function Chips() {
  const { sources } = doc.value;
  if (sources.length === 0) return null;
  return (
    <ul class="sources" aria-label={t('sources')}>
      {sources.map((source, i) => (
        <li key={i}>
          <Chip source={source} />
        </li>
      ))}
    </ul>
  );
}

function Chip({ source }: { source: Source }) {
  const { kinds, queues, consumers, lines, skipped, problems } = source;
  const what = kinds.length > 0 ? kinds.join(' + ') : t('chip.unread');
  const found = kinds.length > 0 ? t('chip.found', { queues, consumers }) : '';
  if (problems.length === 0)
    return (
      <span class="chip good-chip">
        {what} · {found}
      </span>
    );
  return (
    <details class="chip warn-chip" open={kinds.length === 0}>
      <summary>
        {what}
        {found && ` · ${found}`} · {t('chip.skipped', { n: skipped, lines })}
      </summary>
      <ol class="problems">
        {problems.slice(0, MOST_PROBLEMS).map(({ line, text, expected }, i) => (
          <li key={i}>
            {t('problem.line', { line: num(line) })}{' '}
            <code>
              <bdi>{visible(told(text))}</bdi>
            </code>{' '}
            {t('problem.expected', { what: visible(told(expected)) })}
          </li>
        ))}
        {problems.length > MOST_PROBLEMS && <li>{t('more', { n: problems.length - MOST_PROBLEMS })}</li>}
      </ol>
      <p>{queues + consumers > 0 ? t('problem.kept', { queues, consumers }) : t('problem.nothing')}</p>
    </details>
  );
}
