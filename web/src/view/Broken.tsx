import { doc, engine, rawPaste } from '../state';
import { cliLine } from '../export/cli';
import { t, told } from '../i18n';
import { visible } from './Name';

/** Why the engine does not run, in the user's words where the reason is a known one. */
export function brokenReason(): string {
  const state = engine.value;
  if (state.state !== 'broken') return '';
  if (typeof WebAssembly === 'undefined') return t('broken.missing');
  return t('broken.failed', { why: told(state.refusal.message) });
}

const MOST_LINES = 500;

/** The page without its engine: what to run instead, and what was pasted, as it is. */
export function Broken() {
  if (engine.value.state !== 'broken') return null;
  return (
    <section class="card bad-card" role="alert" aria-labelledby="broken-head">
      <h2 id="broken-head">{t('broken.title')}</h2>
      <p>{brokenReason()}</p>
      <p>{t('broken.cli')}</p>
      <pre class="mono scroll" tabIndex={0}>
        {cliLine(doc.value)}
      </pre>
      {rawPaste.value && <RawTable text={rawPaste.value} />}
    </section>
  );
}

/** Columns are what two blanks, a tab or mqadmin's `#` keep apart. */
function RawTable({ text }: { text: string }) {
  const lines = text.split('\n').filter((line) => line.trim());
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={t('broken.pasted')}>
      <table class="data mono">
        <caption>{t('broken.pasted')}</caption>
        <tbody>
          {lines.slice(0, MOST_LINES).map((line, i) => (
            <tr key={i}>
              {line
                .trim()
                .split(/\s{2,}|\t/)
                .map((cell, j) => (
                  <td key={j}>
                    <bdi>{visible(cell)}</bdi>
                  </td>
                ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
