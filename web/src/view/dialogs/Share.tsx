import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { linked } from '../../model/doc';
import { doc } from '../../state';
import { copy, download } from '../../actions';
import { SNAPSHOT_FILE, snapshotJson } from '../../export/cli';
import { t, told } from '../../i18n';
import { Dialog } from './Dialog';
import { useLink } from './link';

/** A link that holds everything behind its `#`, which browsers do not send to servers. */
export function ShareDialog() {
  const id = useId();
  const redact = useSignal(false);
  const { url, refused } = useLink(redact.value);
  const { settings } = doc.value;
  const plan = linked(doc.value);
  const isByRule =
    plan.strategies.some(({ name }) => name === 'MACHINE_ROOM_NEARBY') && settings.roomOf?.kind !== 'table';
  const isWithNames = plan.strategies.some(({ name }) => name !== 'CONSISTENT_HASH');
  return (
    <Dialog title={t('share.title')}>
      <p>{t('share.what')}</p>
      <label>
        <input
          type="checkbox"
          checked={redact.value}
          onChange={(event) => (redact.value = event.currentTarget.checked)}
        />{' '}
        {t('share.redact')}
      </label>
      {redact.value && isWithNames && <p class="hint">{t('share.leftout')}</p>}
      {!redact.value && isByRule && <p class="hint">{t('share.tables')}</p>}
      {refused ? (
        <p class="bad">{refused.code === 'TOO_LARGE' ? t('share.long') : told(refused.message)}</p>
      ) : (
        <>
          <label for={id}>{t('share.link')}</label>
          <textarea
            id={id}
            class="mono"
            rows={3}
            readOnly
            value={url}
            onFocus={(event) => event.currentTarget.select()}
          />
          <button type="button" class="primary" onClick={() => void copy(url)}>
            {t('copy')}
          </button>
        </>
      )}{' '}
      <button type="button" onClick={() => download(SNAPSHOT_FILE, snapshotJson(plan.snapshot), 'application/json')}>
        {t('share.file')}
      </button>
    </Dialog>
  );
}
