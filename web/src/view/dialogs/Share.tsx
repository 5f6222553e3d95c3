import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { linked } from '../../model/doc';
import { doc } from '../../state';
import { copy, download } from '../../actions';
import { ask } from '../../session';
import { SNAPSHOT_FILE, snapshotJson } from '../../export/cli';
import { t, told } from '../../i18n';
import type { Refusal } from '../../types';
import { Dialog } from './Dialog';

/** A link that holds everything behind its `#`, which browsers do not send to servers. */
export function ShareDialog() {
  const id = useId();
  const redact = useSignal(false);
  const link = useSignal('');
  const refused = useSignal<Refusal | null>(null);
  const { settings } = doc.value;
  const plan = linked(doc.value);
  const isByRule =
    plan.strategies.some(({ name }) => name === 'MACHINE_ROOM_NEARBY') && settings.roomOf?.kind !== 'table';
  const isWithNames = plan.strategies.some(({ name }) => name !== 'CONSISTENT_HASH');
  useEffect(() => {
    let current = true;
    refused.value = null;
    ask({ kind: 'link', plan, redact: redact.value }).then(
      (url) => {
        if (current) link.value = `${location.href.split('#')[0]}${url.slice(url.indexOf('#'))}`;
      },
      (refusal: Refusal) => (refused.value = refusal),
    );
    return () => {
      current = false;
    };
  }, [redact.value, doc.value]);
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
      {refused.value ? (
        <p class="bad">{refused.value.code === 'TOO_LARGE' ? t('share.long') : told(refused.value.message)}</p>
      ) : (
        <>
          <label for={id}>{t('share.link')}</label>
          <textarea
            id={id}
            class="mono"
            rows={3}
            readOnly
            value={link.value}
            onFocus={(event) => event.currentTarget.select()}
          />
          <button type="button" class="primary" onClick={() => void copy(link.value)}>
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
