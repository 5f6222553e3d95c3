import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { doc } from '../../state';
import { isFirstPaste, openFiles, paste } from '../../actions';
import { countQueues } from '../../model/doc';
import { t, told } from '../../i18n';
import { Chips } from '../Chips';
import { visible } from '../Name';
import { Broken } from '../Broken';
import { Dialog } from './Dialog';

const MOST_NOTES = 6;

/** Paste, or open files. What was found is said at once, and what is still missing. */
export function OpenDialog() {
  const id = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  const fresh = useSignal(isFirstPaste());
  const read = async (text: string) => {
    if (!text.trim()) return;
    await paste(text, fresh.value);
    fresh.value = false;
    if (box.current) box.current.value = '';
  };
  return (
    <Dialog title={t('open.title')}>
      <p>{t('open.kinds')}</p>
      <label for={`${id}t`}>{t('open.paste')}</label>
      <textarea
        id={`${id}t`}
        ref={box}
        class="mono paste"
        rows={8}
        spellcheck={false}
        placeholder={'orders: broker-a=8, broker-b=8\n10.0.3.11@7#812\n10.0.3.12@7#944'}
        onPaste={(event) => {
          const text = event.clipboardData?.getData('text/plain');
          if (!text || box.current?.value) return;
          event.preventDefault();
          void read(text);
        }}
      />
      <div class="controls">
        <button type="button" class="primary" onClick={() => void read(box.current?.value ?? '')}>
          {t('open.read')}
        </button>
        <label class="button">
          {t('open.file')}
          <input
            type="file"
            multiple
            class="unseen"
            onChange={(event) => {
              void openFiles([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = '';
            }}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={fresh.value}
            onChange={(event) => (fresh.value = event.currentTarget.checked)}
          />{' '}
          {t('open.fresh')}
        </label>
      </div>
      <Chips />
      <p role="status">{missing()}</p>
      {doc.value.open.slice(0, MOST_NOTES).map(({ text, expected }, i) => (
        <p key={i} class="hint">
          {t('missing.open', { text: visible(told(text)), expected: visible(told(expected)) })}
        </p>
      ))}
      <p class="hint">{t('open.private')}</p>
      <Broken />
    </Dialog>
  );
}

export function missing(): string {
  const { snapshot } = doc.value;
  const [queues, consumers] = [countQueues(snapshot), snapshot.consumers.length];
  if (queues > 0 && consumers > 0) return t('missing.nothing', { queues, consumers });
  if (queues > 0) return t('missing.consumers', { queues });
  if (consumers > 0) return t('missing.queues', { consumers });
  return t('missing.both');
}
