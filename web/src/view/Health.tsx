import { outcome } from '../state';
import { t, told, type Key } from '../i18n';
import type { Finding } from '../types';
import { en } from '../i18n/en';
import { Name, visible } from './Name';

const MOST_NAMES = 12;

/** What is wrong with the group as it is. Opens by itself if something is. */
export function Health() {
  const findings = outcome.value?.findings ?? [];
  const bad = findings.filter(({ level }) => level !== 'info');
  if (!outcome.value || outcome.value.doc.snapshot.consumers.length === 0) return null;
  return (
    <section class={`card health ${bad.length > 0 ? 'bad-card' : ''}`} aria-labelledby="health-head">
      <details open={bad.length > 0} key={String(bad.length > 0)}>
        <summary>
          <h2 id="health-head">{t('health')}</h2>
          <span class={bad.length > 0 ? 'bad' : 'good'}>
            {findings.length === 0 ? t('health.good') : t('health.found', { n: findings.length })}
          </span>
        </summary>
        {findings.length === 0 && <p>{t('health.sentence')}</p>}
        <ul class="findings">
          {findings.map((finding, i) => (
            <Item key={i} finding={finding} />
          ))}
        </ul>
      </details>
    </section>
  );
}

function Item({ finding }: { finding: Finding }) {
  const key = `finding.${finding.code}`;
  const title = key in en ? t(key as Key) : '';
  const consumers = finding.consumers ?? [];
  const queues = finding.queues ?? [];
  const { text, effect, fix } = finding;
  return (
    <li class={`finding ${finding.level}`}>
      <p>
        <span class="tag level">{t(`level.${finding.level}`)}</span> <strong>{finding.code}</strong> {title}
      </p>
      <p>{visible(effect ? t('effect', { text: told(text), effect: told(effect) }) : told(text))}</p>
      {consumers.length > 0 && (
        <p class="names">
          {consumers.slice(0, MOST_NAMES).map((id, i) => (
            <Name key={i}>{id}</Name>
          ))}
          {consumers.length > MOST_NAMES && t('more', { n: consumers.length - MOST_NAMES })}
        </p>
      )}
      {queues.length > 0 && (
        <p class="names">
          {queues.slice(0, MOST_NAMES).map(({ topic, broker, id }, i) => (
            <Name key={i}>{`${topic} ${broker}/${id}`}</Name>
          ))}
          {queues.length > MOST_NAMES && t('more', { n: queues.length - MOST_NAMES })}
        </p>
      )}
      {fix.en && (
        <p>
          <strong>{t('fix')}</strong> {visible(told(fix))}
        </p>
      )}
    </li>
  );
}
