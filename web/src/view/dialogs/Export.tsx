import { useSignal } from '@preact/signals';
import { doc, outcome } from '../../state';
import { copy, download, say } from '../../actions';
import { ask, jobOf } from '../../session';
import { moves, picture } from '../../derive';
import { cliLine, linkLine, npmSnippet, SNAPSHOT_FILE, snapshotJson } from '../../export/cli';
import { movesCsv } from '../../export/csv';
import { ticketMarkdown } from '../../export/markdown';
import { t, told } from '../../i18n';
import type { Refusal } from '../../types';
import { Dialog } from './Dialog';
import { useLink } from './link';

/** The same plan in other forms. */
export function ExportDialog() {
  const result = outcome.value;
  const busy = useSignal(false);
  const { url } = useLink(false);
  const report = async () => {
    busy.value = true;
    try {
      download('plan.json', await ask({ kind: 'report', job: jobOf() }), 'application/json');
    } catch (refusal) {
      say(told((refusal as Refusal).message));
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog title={t('export.title')}>
      <Text title={t('export.cli')} text={cliLine(doc.value)} note={t('export.cli.note', { file: SNAPSHOT_FILE })} />
      <p>
        <button
          type="button"
          onClick={() => download(SNAPSHOT_FILE, snapshotJson(doc.value.snapshot), 'application/json')}
        >
          {t('share.file')}
        </button>
      </p>
      {url && <Text title={t('export.cli.link')} text={linkLine(url)} note={t('export.cli.link.note')} />}
      <Text title={t('export.npm')} text={npmSnippet(doc.value)} />
      {result && <Text title={t('export.markdown')} text={ticketMarkdown(result, moves.value)} />}
      <h3>{t('export.files')}</h3>
      <p class="tools">
        {picture.value && (
          <button
            type="button"
            onClick={() => picture.value && download('moves.csv', movesCsv(picture.value, moves.value), 'text/csv')}
          >
            {t('export.csv')}
          </button>
        )}
        <button type="button" disabled={busy.value} onClick={() => void report()}>
          {t('export.json')}
        </button>
        <button type="button" onClick={() => window.print()}>
          {t('export.print')}
        </button>
      </p>
      <p class="hint">{t('export.pictures')}</p>
    </Dialog>
  );
}

function Text({ title, text, note }: { title: string; text: string; note?: string }) {
  return (
    <section>
      <div class="figure-head">
        <h3>{title}</h3>
        <button type="button" class="quiet" onClick={() => void copy(text)}>
          {t('copy')}
          <span class="unseen"> {title}</span>
        </button>
      </div>
      <pre class="mono scroll short" tabIndex={0}>
        {text}
      </pre>
      {note && <p class="hint">{note}</p>}
    </section>
  );
}
