import { matrixOf, picture } from '../derive';
import { num, t } from '../i18n';
import { Figure } from './Figure';
import { Badge, Name, visible } from './Name';

const MOST_MEMBERS = 60;
const MOST_TOPICS = 40;

/** Members by topics: each topic may be even and the sum is not. Members with least come first. */
export function TopicMatrix() {
  const shown = picture.value;
  if (!shown) return null;
  const { topics, counts, totals } = matrixOf(shown, 'after');
  if (topics.length < 2) return null;
  const members = shown.members.map((one, i) => ({ ...one, i, total: totals[i] ?? 0 })).filter((one) => one.after);
  members.sort((a, b) => a.total - b.total || a.i - b.i);
  const idle = members.filter(({ total }) => total === 0);
  const ideal = members.reduce((sum, { total }) => sum + total, 0) / Math.max(1, members.length);
  const cut = members.length > MOST_MEMBERS || topics.length > MOST_TOPICS;
  const span = { min: members[0]?.total ?? 0, max: members.at(-1)?.total ?? 0, topics: topics.length };
  const words = [
    t('topics.sentence', span),
    idle.length > 0
      ? t('topics.idle', {
          n: idle.length,
          names: idle
            .slice(0, 3)
            .map(({ id }) => visible(id))
            .join(', '),
        })
      : '',
  ];
  return (
    <Figure
      title={t('topics')}
      table={null}
      sentence={words
        .concat(cut ? t('topics.cut', { members: MOST_MEMBERS, topics: MOST_TOPICS }) : '')
        .filter(Boolean)
        .join(' ')}
      class="wide"
    >
      <div class="scroll tall" tabIndex={0} role="group" aria-label={t('topics')}>
        <table class="data matrix">
          <caption class="unseen">{t('topics')}</caption>
          <thead>
            <tr>
              <th scope="col">{t('member')}</th>
              <th scope="col" class="number">
                {t('total')}
              </th>
              {topics.slice(0, MOST_TOPICS).map((topic) => (
                <th scope="col" key={topic}>
                  <Name>{topic}</Name>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {members.slice(0, MOST_MEMBERS).map(({ id, i, total }) => (
              <tr key={id} class={total === 0 ? 'idle' : ''}>
                <th scope="row">
                  <span class="owner">
                    <Badge place={i} />
                    <Name>{id}</Name>
                    {total === 0 && <span class="tag">{t('idle')}</span>}
                  </span>
                </th>
                <td class="number">
                  <strong>{num(total)}</strong>
                </td>
                {topics.slice(0, MOST_TOPICS).map((topic, column) => {
                  const count = counts[i]?.[column] ?? 0;
                  return (
                    <td
                      key={topic}
                      class={`number heat-${count === 0 ? 0 : Math.min(4, Math.ceil((count * topics.length * 2) / Math.max(1, ideal)))}`}
                    >
                      {count === 0 ? '·' : num(count)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  );
}
