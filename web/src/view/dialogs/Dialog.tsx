import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { dialog } from '../../state';
import { t } from '../../i18n';

/** A window over the page. The browser keeps focus inside, closes it on Escape and gives the focus back. */
export function Dialog({ title, children }: { title: string; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = ref.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby="dialog-head"
      onClose={() => (dialog.value = null)}
      onClick={(event) => {
        if (event.target === event.currentTarget) dialog.value = null;
      }}
    >
      <div class="dialog-body">
        <div class="figure-head">
          <h2 id="dialog-head">{title}</h2>
          <button type="button" class="quiet" onClick={() => (dialog.value = null)}>
            {t('close')}
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
