import { effect, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { doc, engine, isOld, isTooLarge, isVerdictSeen, outcome, pinned, runState, untouched, dialog } from '../state';
import { cancel, restart, togglePin } from '../actions';
import { cliLine } from '../export/cli';
import { num, t, told } from '../i18n';
import { verdict } from '../words';
import { visible } from './Name';
import { brokenReason } from './Broken';

/** A run that takes less than this says nothing about itself. */
const PATIENCE_MS = 250;
/** Speech waits for a pause in typing. */
const PAUSE_MS = 900;

export function Verdict() {
  const result = outcome.value;
  const text = result && verdict(result);
  const refusal = result && !text ? (result.rows.get(result.selected)?.refusal ?? result.refusal) : null;
  return (
    <section
      class={`verdict card ${isOld.value ? 'old' : ''}`}
      aria-labelledby="verdict-head"
      data-state={stateName()}
      data-rows={result?.marks?.rows}
      data-planned={result?.marks?.planned}
    >
      <h2 id="verdict-head" class="unseen">
        {t('verdict')}
      </h2>
      {isTooLarge.value ? (
        <TooLarge />
      ) : text ? (
        <>
          <p class="verdict-main">{visible(text.main)}</p>
          <p>{visible(text.more.join(' '))}</p>
        </>
      ) : refusal ? (
        <p class="verdict-main">{t('verdict.refused', { why: visible(told(refusal.message)) })}</p>
      ) : (
        <Skeleton />
      )}
      <div class="verdict-foot">
        <span class="dim">{result?.selected ?? ''}</span>
        {result && (
          <button type="button" class="quiet" aria-pressed={pinned.value !== null} onClick={togglePin}>
            {pinned.value ? t('pin.off') : t('pin.on')}
          </button>
        )}
        <RunNote />
      </div>
      {untouched.value && (
        <p class="hint">
          {t('first.help')}{' '}
          <button type="button" class="link" onClick={() => (dialog.value = 'open')}>
            {t('first.own')}
          </button>
        </p>
      )}
      <Speaker />
    </section>
  );
}

function stateName(): string {
  if (isTooLarge.value) return 'too-large';
  // What stands below the verdict belongs to the answer.
  if (!outcome.value || !isVerdictSeen.value) return engine.value.state;
  return isOld.value ? 'old' : runState.value.state;
}

function Skeleton() {
  return (
    <div class="skeleton" aria-busy="true">
      <p class="verdict-main">{t('loading')}</p>
      <p>&nbsp;</p>
    </div>
  );
}

function TooLarge() {
  return (
    <>
      <p class="verdict-main">{t('large.limit')}</p>
      <p>{t('large.cli')}</p>
      <pre class="mono scroll" tabIndex={0}>
        {cliLine(doc.value)}
      </pre>
    </>
  );
}

/** Progress, cancel, and what became of a run. */
function RunNote() {
  const late = useSignal(false);
  const state = runState.value;
  useEffect(() => {
    if (state.state !== 'running') {
      late.value = false;
      return;
    }
    const wait = setTimeout(() => (late.value = true), Math.max(0, state.since + PATIENCE_MS - performance.now()));
    return () => clearTimeout(wait);
  }, [state.state === 'running' && state.since]);
  if (engine.value.state === 'broken') return <span class="bad">{brokenReason()}</span>;
  switch (state.state) {
    case 'running':
      // While the engine starts, that is said in the verdict's place.
      if (!late.value || engine.value.state === 'loading') return null;
      return (
        <span class="run-note">
          <progress value={state.done} max={state.of} aria-label={t('run.progress')} />
          <button type="button" onClick={cancel}>
            {t('run.cancel')}
          </button>
          {isOld.value && <span class="old-mark">{t('run.old')}</span>}
        </span>
      );
    case 'cancelled':
      return (
        <span class="run-note">
          <span class="old-mark">{t('run.cancelled')}</span>
          <button type="button" onClick={restart}>
            {t('run.again')}
          </button>
        </span>
      );
    case 'failed':
      return <span class="bad">{t('run.failed', { why: told(state.refusal.message) })}</span>;
    case 'idle': {
      const time = outcome.value?.marks?.rows;
      return time === undefined ? null : (
        <span class="dim">{t('run.time', { ms: num(Math.max(1, Math.round(time))) })}</span>
      );
    }
  }
}

/** The one live region of the page: it says the verdict when nothing has changed for a moment. */
function Speaker() {
  const spoken = useSignal('');
  useEffect(() => {
    let wait: ReturnType<typeof setTimeout> | undefined;
    const stop = effect(() => {
      const text = outcome.value && !isOld.value ? verdict(outcome.value) : null;
      clearTimeout(wait);
      wait = setTimeout(() => (spoken.value = text ? visible([text.main, ...text.more].join(' ')) : ''), PAUSE_MS);
    });
    return () => {
      stop();
      clearTimeout(wait);
    };
  }, []);
  return (
    <div class="unseen" role="status" aria-live="polite">
      {spoken.value}
    </div>
  );
}
