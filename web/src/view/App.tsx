import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { dialog, doc, engine, isTooLarge, isVerdictSeen, notice } from '../state';
import { openFiles } from '../actions';
import { countQueues, isEmpty } from '../model/doc';
import { wide } from '../screen';
import { t } from '../i18n';
import { Balance } from './Balance';
import { Broken } from './Broken';
import { Chips } from './Chips';
import { Churn } from './Churn';
import { EditDialog } from './dialogs/Edit';
import { ExportDialog } from './dialogs/Export';
import { Exactness, HelpDialog } from './dialogs/Help';
import { missing, OpenDialog } from './dialogs/Open';
import { ShareDialog } from './dialogs/Share';
import { StrategyDialog } from './dialogs/StrategySettings';
import { Empty } from './Empty';
import { Header } from './Header';
import { Health } from './Health';
import { AllocationMap } from './map/AllocationMap';
import { Members } from './Members';
import { Moves } from './Moves';
import { visible } from './Name';
import { PositionStrip } from './PositionStrip';
import { RollingRestart } from './RollingRestart';
import { Strategies } from './Strategies';
import { TopicMatrix } from './TopicMatrix';
import { Verdict } from './Verdict';
import { GroupLine, WhatIf } from './WhatIf';

export function App() {
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
      >
        {t('skip')}
      </a>
      <Header />
      <main id="main" tabIndex={-1}>
        <Broken />
        {isEmpty(doc.value) ? <Empty /> : <Plan />}
      </main>
      <footer>
        <details>
          <summary>{t('exact.title')}</summary>
          <Exactness />
        </details>
      </footer>
      <Dialogs />
      <DropZone />
      <div class="notice" role="status" aria-live="polite">
        {visible(notice.value)}
      </div>
    </>
  );
}

function Plan() {
  const { snapshot } = doc.value;
  const isHalf = countQueues(snapshot) === 0 || snapshot.consumers.length === 0;
  return (
    <>
      <div class="lead">
        <GroupLine />
        <Chips />
        {isHalf && (
          <p class="bad" role="alert">
            {missing()}
          </p>
        )}
        <WhatIf />
      </div>
      {engine.value.state !== 'broken' && <Verdict />}
      <Health />
      {isVerdictSeen.value && !isTooLarge.value && (wide.value ? <TwoColumns /> : <OneColumn />)}
    </>
  );
}

function TwoColumns() {
  return (
    <>
      <div class="columns">
        <div class="column">
          <Strategies />
          <Churn />
          <PositionStrip />
          <Balance />
        </div>
        <div class="column">
          <AllocationMap />
          <Members />
          <RollingRestart />
        </div>
      </div>
      <Moves />
      <TopicMatrix />
    </>
  );
}

/** In the order in which people ask: what strategy, which queues, then the rest. */
function OneColumn() {
  return (
    <>
      <Strategies />
      <AllocationMap />
      <Moves />
      <Members />
      <Balance />
      <Churn />
      <PositionStrip />
      <TopicMatrix />
      <RollingRestart />
    </>
  );
}

function Dialogs() {
  switch (dialog.value) {
    case 'open':
      return <OpenDialog />;
    case 'edit':
      return <EditDialog />;
    case 'share':
      return <ShareDialog />;
    case 'export':
      return <ExportDialog />;
    case 'help':
      return <HelpDialog />;
    case 'strategy':
      return <StrategyDialog />;
    case null:
      return null;
  }
}

/** Files can be dropped anywhere. */
function DropZone() {
  const over = useSignal(false);
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const drag = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      over.value = true;
    };
    const leave = (event: DragEvent) => {
      if (!event.relatedTarget) over.value = false;
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      over.value = false;
      void openFiles([...(event.dataTransfer?.files ?? [])]);
    };
    document.addEventListener('dragover', drag);
    document.addEventListener('dragleave', leave);
    document.addEventListener('drop', drop);
    return () => {
      document.removeEventListener('dragover', drag);
      document.removeEventListener('dragleave', leave);
      document.removeEventListener('drop', drop);
    };
  }, []);
  return over.value ? <div class="drop">{t('drop')}</div> : null;
}
