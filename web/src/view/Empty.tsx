import { dialog } from '../state';
import { edit, loadExample, paste } from '../actions';
import { doc as newDoc, EMPTY } from '../model/doc';
import { setBroker, setConsumerCount } from '../model/edit';
import { t } from '../i18n';

const SAMPLE = 'orders: broker-a=8, broker-b=8\n10.0.3.11@7#812\n10.0.3.12@7#944\n10.0.3.13@7#377';

/** Nothing to look at: three ways in, each with a sample. */
export function Empty() {
  return (
    <section class="card empty" aria-labelledby="empty-head">
      <h2 id="empty-head">{t('empty.title')}</h2>
      <div class="ways">
        <div>
          <h3>{t('empty.type')}</h3>
          <p>{t('empty.type.text')}</p>
          <button
            type="button"
            onClick={() => edit(setConsumerCount(setBroker(newDoc(EMPTY), 'orders', 'broker-a', { readQueues: 8 }), 3))}
          >
            {t('empty.type.sample')}
          </button>{' '}
          <button type="button" class="link" onClick={() => (dialog.value = 'edit')}>
            {t('open.edit')}
          </button>
        </div>
        <div>
          <h3>{t('empty.paste')}</h3>
          <p>{t('empty.paste.text')}</p>
          <pre class="mono scroll" tabIndex={0}>
            {SAMPLE}
          </pre>
          <button type="button" onClick={() => void paste(SAMPLE, true)}>
            {t('empty.paste.sample')}
          </button>{' '}
          <button type="button" class="link" onClick={() => (dialog.value = 'open')}>
            {t('open.open')}
          </button>
        </div>
        <div>
          <h3>{t('empty.file')}</h3>
          <p>{t('empty.file.text')}</p>
          <pre class="mono scroll" tabIndex={0}>
            evenkeel snapshot GROUP -O snapshot.json
          </pre>
          <button type="button" onClick={() => loadExample('first')}>
            {t('empty.file.sample')}
          </button>
        </div>
      </div>
    </section>
  );
}
