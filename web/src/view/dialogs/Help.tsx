import { engine } from '../../state';
import { keysOn } from '../../settings';
import { t, type Key } from '../../i18n';
import { Dialog } from './Dialog';

const KEYS: readonly [string, Key][] = [
  ['+ −', 'key.count'],
  ['1 – 7', 'key.strategy'],
  ['b', 'key.side'],
  ['m', 'key.moves'],
  ['/', 'key.filter'],
  ['s', 'key.share'],
  ['?', 'key.help'],
  ['↑ ↓ ← → Home End PgUp PgDn', 'key.map'],
  ['Enter / Esc', 'key.pin'],
];

export function HelpDialog() {
  return (
    <Dialog title={t('help.title')}>
      <p>{t('help.what')}</p>
      <h3>{t('help.keys')}</h3>
      <label>
        <input
          type="checkbox"
          checked={keysOn.value}
          onChange={(event) => (keysOn.value = event.currentTarget.checked)}
        />{' '}
        {t('help.keys.on')}
      </label>
      <dl class="keys-list">
        {KEYS.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
      <Exactness />
    </Dialog>
  );
}

/** What the numbers rest on, and what they leave out. */
export function Exactness() {
  const state = engine.value;
  return (
    <section>
      <h3>{t('exact.title')}</h3>
      {state.state === 'ready' && (
        <p>{t('exact.version', { version: state.version.package, vectors: state.version.rocketmqVectors })}</p>
      )}
      <p>{t('exact.not')}</p>
      <p>{t('exact.pop')}</p>
    </section>
  );
}
