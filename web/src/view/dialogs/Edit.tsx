import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { doc, selected } from '../../state';
import { edit } from '../../actions';
import { byCodeUnit, runningName, strategyOf } from '../../model/doc';
import { STRATEGY_NAMES } from '../../model/names';
import {
  renameConsumer,
  setBroker,
  setConsumerCount,
  setConsumerIds,
  setRunning,
  setSnapshot,
  setTopic,
} from '../../model/edit';
import { num, t } from '../../i18n';
import type { StrategyName } from '../../types';
import { Name } from '../Name';
import { VirtualTable } from '../Virtual';
import { Dialog } from './Dialog';

/** The group as it is: name, strategy, queues, members. */
export function EditDialog() {
  const id = useId();
  const { snapshot } = doc.value;
  return (
    <Dialog title={t('edit.title')}>
      <div class="controls">
        <label for={`${id}g`}>{t('edit.group')}</label>
        <input
          id={`${id}g`}
          value={snapshot.group ?? ''}
          onInput={(event) => edit((d) => setSnapshot(d, { group: event.currentTarget.value }), 'group')}
        />
        <label for={`${id}s`}>{t('edit.running')}</label>
        <select
          id={`${id}s`}
          value={runningName(snapshot)}
          onChange={(event) => edit((d) => setRunning(d, event.currentTarget.value as StrategyName))}
        >
          {STRATEGY_NAMES.map((name) => (
            <option key={name} value={name} disabled={!strategyOf(doc.value, name)}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <Topics />
      <Consumers />
      <p class="hint">{t('edit.selected', { name: selected.value })}</p>
    </Dialog>
  );
}

const MOST_ROWS = 300;

function Topics() {
  const id = useId();
  const topic = useSignal('');
  const broker = useSignal('');
  const queues = useSignal(8);
  const { topics } = doc.value.snapshot;
  const rows = topics.flatMap(({ topic, brokers }) => brokers.map((one) => ({ topic, ...one })));
  const add = () => {
    const [to, on] = [
      topic.value.trim() || topics[0]?.topic || 'orders',
      broker.value.trim() || `broker-${rows.length + 1}`,
    ];
    edit((d) => setBroker(d, to, on, { readQueues: queues.value }));
    broker.value = '';
  };
  return (
    <section aria-labelledby={`${id}h`}>
      <h3 id={`${id}h`}>{t('edit.queues')}</h3>
      <div class="scroll tall" tabIndex={0} role="group" aria-labelledby={`${id}h`}>
        <table class="data">
          <thead>
            <tr>
              <th scope="col">{t('topic')}</th>
              <th scope="col">{t('broker')}</th>
              <th scope="col">{t('edit.read')}</th>
              <th scope="col">{t('edit.readable')}</th>
              <th scope="col">
                <span class="unseen">{t('remove')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MOST_ROWS).map(({ topic, broker, readQueues, readable }) => (
              <tr key={`${topic}\n${broker}`}>
                <th scope="row">
                  <Name>{topic}</Name>
                </th>
                <td>
                  <Name>{broker}</Name>
                </td>
                <td>
                  <input
                    type="number"
                    min={0}
                    max={100000}
                    value={readQueues}
                    aria-label={t('whatif.queues.of', { topic, broker })}
                    onInput={(event) => {
                      const count = event.currentTarget.valueAsNumber;
                      if (count >= 0)
                        edit(
                          (d) => setBroker(d, topic, broker, { readQueues: Math.min(100_001, Math.floor(count)) }),
                          `b${topic}\n${broker}`,
                        );
                    }}
                  />
                </td>
                <td>
                  <input
                    type="checkbox"
                    checked={readable !== false}
                    aria-label={t('edit.readable.of', { topic, broker })}
                    onChange={(event) =>
                      edit((d) => setBroker(d, topic, broker, { readable: event.currentTarget.checked }))
                    }
                  />
                </td>
                <td>
                  <button
                    type="button"
                    class="quiet"
                    aria-label={t('remove.of', { name: `${topic} ${broker}` })}
                    onClick={() => edit((d) => remove(d.snapshot.topics, topic, broker)(d))}
                  >
                    ×
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > MOST_ROWS && <p class="hint">{t('table.cut', { n: MOST_ROWS, total: rows.length })}</p>}
      <form
        class="controls"
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <label for={`${id}t`}>{t('topic')}</label>
        <input
          id={`${id}t`}
          size={12}
          placeholder={topics[0]?.topic ?? 'orders'}
          value={topic.value}
          onInput={(event) => (topic.value = event.currentTarget.value)}
        />
        <label for={`${id}b`}>{t('broker')}</label>
        <input
          id={`${id}b`}
          size={12}
          value={broker.value}
          onInput={(event) => (broker.value = event.currentTarget.value)}
        />
        <label for={`${id}q`}>{t('edit.read')}</label>
        <input
          id={`${id}q`}
          type="number"
          min={0}
          max={100000}
          value={queues.value}
          onInput={(event) => (queues.value = event.currentTarget.valueAsNumber || 0)}
        />
        <button type="submit">{t('add')}</button>
      </form>
    </section>
  );
}

function remove(topics: typeof doc.value.snapshot.topics, topic: string, broker: string) {
  const isLast = topics.find((one) => one.topic === topic)?.brokers.length === 1;
  return (d: typeof doc.value) => (isLast ? setTopic(d, topic, null) : setBroker(d, topic, broker, null));
}

function Consumers() {
  const id = useId();
  const { consumers } = doc.value.snapshot;
  const order = consumers.map((one, at) => ({ ...one, at })).sort((a, b) => byCodeUnit(a.id, b.id));
  const asText = useSignal(false);
  return (
    <section aria-labelledby={`${id}h`}>
      <h3 id={`${id}h`}>{t('edit.consumers', { n: consumers.length })}</h3>
      <div class="controls">
        <label for={`${id}n`}>{t('edit.count')}</label>
        <input
          id={`${id}n`}
          type="number"
          min={0}
          max={100000}
          value={consumers.length}
          onInput={(event) => {
            const count = event.currentTarget.valueAsNumber;
            if (count >= 0) edit((d) => setConsumerCount(d, Math.min(100_000, Math.floor(count))), 'consumers');
          }}
        />
        <button type="button" aria-pressed={asText.value} onClick={() => (asText.value = !asText.value)}>
          {t('edit.text')}
        </button>
      </div>
      {asText.value ? (
        <>
          <label for={`${id}l`}>{t('edit.list')}</label>
          <textarea
            id={`${id}l`}
            class="mono"
            rows={8}
            spellcheck={false}
            defaultValue={order.map((one) => one.id).join('\n')}
            onInput={(event) =>
              edit(
                (d) =>
                  setConsumerIds(
                    d,
                    event.currentTarget.value
                      .split('\n')
                      .map((line) => line.trim())
                      .filter(Boolean),
                  ),
                'list',
              )
            }
          />
        </>
      ) : (
        <VirtualTable
          label={t('edit.consumers', { n: consumers.length })}
          heads={['#', t('member'), t('edit.client'), t('remove')]}
          count={order.length}
          rowHeight={44}
          height={264}
          class="edit-consumers"
          cells={(i) => {
            const one = order[i];
            if (!one) return [];
            return [
              num(i + 1),
              <input
                class="mono"
                aria-label={t('edit.id', { n: i + 1 })}
                value={one.id}
                onChange={(event) => edit((d) => renameConsumer(d, one.at, event.currentTarget.value))}
              />,
              [one.language, one.version].filter(Boolean).join(' '),
              <button
                type="button"
                class="quiet"
                aria-label={t('remove.of', { name: one.id })}
                onClick={() =>
                  edit((d) => setSnapshot(d, { consumers: d.snapshot.consumers.filter((_, at) => at !== one.at) }))
                }
              >
                ×
              </button>,
            ];
          }}
        />
      )}
      <p class="hint">{t('members.order')}</p>
    </section>
  );
}
