import { canRedo, canUndo, dialog, type DialogName } from '../state';
import { clear, loadExample, redo, undo } from '../actions';
import { language, theme, type Theme } from '../settings';
import { EXAMPLES, type ExampleName } from '../model/examples';
import { t } from '../i18n';
import { Live } from './Live';

export function Header() {
  return (
    <header class="top">
      <h1>
        <Mark /> Evenkeel <span class="dim">{t('planner')}</span>
      </h1>
      <nav class="tools" aria-label={t('nav')}>
        <label class="select">
          <span class="unseen">{t('example')}</span>
          <select
            value=""
            onChange={(event) => {
              const value = event.currentTarget.value;
              event.currentTarget.value = '';
              if (value === 'clear') clear();
              else if (value) loadExample(value as ExampleName);
            }}
          >
            <option value="">{t('example')}</option>
            {EXAMPLES.map((name) => (
              <option value={name} key={name}>
                {t(`example.${name}`)}
              </option>
            ))}
            <option value="clear">{t('clear')}</option>
          </select>
        </label>
        <Live />
        <Opens name="open" class="primary" />
        <Opens name="edit" />
        <Opens name="share" />
        <Opens name="export" />
        <span class="group">
          <button type="button" onClick={undo} disabled={!canUndo.value} aria-label={t('undo')} title={t('undo')}>
            ↶
          </button>
          <button type="button" onClick={redo} disabled={!canRedo.value} aria-label={t('redo')} title={t('redo')}>
            ↷
          </button>
        </span>
        <label class="select">
          <span class="unseen">{t('theme')}</span>
          <select value={theme.value} onChange={(event) => (theme.value = event.currentTarget.value as Theme)}>
            <option value="system">{t('theme.system')}</option>
            <option value="light">{t('theme.light')}</option>
            <option value="dark">{t('theme.dark')}</option>
          </select>
        </label>
        <button
          type="button"
          lang={language.value === 'en' ? 'zh-Hans' : 'en'}
          onClick={() => (language.value = language.value === 'en' ? 'zh' : 'en')}
        >
          {language.value === 'en' ? '中文' : 'English'}
        </button>
        <Opens name="help" short="?" />
      </nav>
    </header>
  );
}

function Opens({ name, class: look = '', short }: { name: DialogName; class?: string; short?: string }) {
  return (
    <button
      type="button"
      class={look}
      aria-haspopup="dialog"
      {...(short ? { 'aria-label': t(`open.${name}` as 'open.help') } : {})}
      onClick={() => (dialog.value = name)}
    >
      {short ?? t(`open.${name}` as 'open.help')}
    </button>
  );
}

function Mark() {
  return (
    <svg class="mark" width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
      <rect x="2" y="11" width="4" height="7" rx="1" />
      <rect x="9" y="11" width="4" height="7" rx="1" />
      <rect x="16" y="11" width="4" height="7" rx="1" />
      <path d="M1 7h20" />
    </svg>
  );
}
