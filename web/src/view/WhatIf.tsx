import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { available, doc } from '../state';
import { addConsumers, edit } from '../actions';
import {
  consumersAfter,
  growQueues,
  membership,
  setConsumersAfter,
  setJoining,
  setQueuesAfter,
  setRoll,
  setStrategyAfter,
  toggleBroker,
  withMembership,
} from '../model/edit';
import { brokersOf, countQueues, runningName } from '../model/doc';
import { t } from '../i18n';
import type { StrategyName } from '../types';
import { Name } from './Name';

/** What the group is, in one line. */
export function GroupLine() {
  const { snapshot } = doc.value;
  const topics = snapshot.topics;
  return (
    <p class="group-line">
      <strong>
        <Name>{snapshot.group ?? t('group.unnamed')}</Name>
      </strong>
      <span>
        {topics.length === 1 && topics[0] ? <Name>{topics[0].topic}</Name> : t('group.topics', { n: topics.length })}
      </span>
      <span>{t('group.queues', { n: countQueues(snapshot), brokers: brokersOf(snapshot).length })}</span>
      <span>{t('group.running', { name: runningName(snapshot) })}</span>
    </p>
  );
}

export function WhatIf() {
  const id = useId();
  const now = doc.value.snapshot.consumers.length;
  const after = consumersAfter(doc.value);
  return (
    <section class="what-if card" aria-labelledby={id}>
      <h2 id={id}>{t('whatif')}</h2>
      <div class="controls">
        <div class="control">
          <label for={`${id}n`}>{t('whatif.consumers', { now })}</label>
          <span class="stepper">
            <button type="button" onClick={() => addConsumers(-1)} disabled={after <= 0} aria-label={t('whatif.fewer')}>
              −
            </button>
            <input
              id={`${id}n`}
              type="number"
              inputMode="numeric"
              min={0}
              max={100000}
              value={after}
              onInput={(event) => {
                const count = event.currentTarget.valueAsNumber;
                if (Number.isFinite(count)) edit((d) => setConsumersAfter(d, count), 'count');
              }}
            />
            <button type="button" onClick={() => addConsumers(1)} aria-label={t('whatif.more')}>
              +
            </button>
          </span>
        </div>
        <Queues />
        <div class="control">
          <label for={`${id}r`}>{t('whatif.roll')}</label>
          <select
            id={`${id}r`}
            value={rollOf()}
            onChange={(event) =>
              edit((d) => setRoll(d, (event.currentTarget.value || null) as 'stable' | 'new' | null))
            }
          >
            <option value="">{t('whatif.roll.none')}</option>
            <option value="stable">{t('whatif.roll.stable')}</option>
            <option value="new">{t('whatif.roll.new')}</option>
          </select>
        </div>
        <div class="control">
          <label for={`${id}s`}>{t('whatif.strategy')}</label>
          <select
            id={`${id}s`}
            value={strategyAfter()}
            onChange={(event) =>
              edit((d) => setStrategyAfter(d, (event.currentTarget.value || null) as StrategyName | null))
            }
          >
            <option value="">{t('whatif.strategy.same')}</option>
            {available.value.map(({ name }) => (
              <option value={name} key={name}>
                {name}
              </option>
            ))}
          </select>
        </div>
      </div>
      <Ids />
    </section>
  );
}

function rollOf(): string {
  const roll = doc.value.changes.find((change) => change.kind === 'roll');
  if (roll?.kind !== 'roll') return '';
  return roll.ids === 'stable' ? 'stable' : 'new';
}

function strategyAfter(): string {
  const change = doc.value.changes.find((one) => one.kind === 'strategy');
  return change?.kind === 'strategy' ? change.to.name : '';
}

/** Who joins or leaves: a number only, or ids. */
function Ids() {
  const id = useId();
  const now = membership(doc.value.changes);
  const joins = now.joining.length + now.joiningUnknown > 0;
  const leaves = now.leaving.length + now.leavingUnknown > 0;
  const known = joins ? now.joining : now.leaving;
  const exact = useSignal(known.length > 0);
  useEffect(() => {
    exact.value = false;
  }, [doc.value.snapshot]);
  if (!joins && !leaves) return null;
  const total = joins ? now.joining.length + now.joiningUnknown : now.leaving.length + now.leavingUnknown;
  const isExact = exact.value || known.length > 0;
  const set = (ids: readonly string[]) => {
    edit((d) => {
      if (joins) return setJoining(d, ids);
      const there = d.snapshot.consumers.map((consumer) => consumer.id);
      const leaving = ids.filter((one) => there.includes(one));
      return withMembership(d, { ...now, leaving, leavingUnknown: Math.max(0, total - leaving.length) });
    }, 'ids');
  };
  return (
    <fieldset class="ids">
      <legend>{joins ? t('ids.joining', { n: total }) : t('ids.leaving', { n: total })}</legend>
      <label>
        <input
          type="radio"
          name={`${id}k`}
          checked={!isExact}
          onChange={() => {
            exact.value = false;
            set([]);
          }}
        />{' '}
        {t('ids.unknown')}
      </label>
      <label>
        <input type="radio" name={`${id}k`} checked={isExact} onChange={() => (exact.value = true)} /> {t('ids.exact')}
      </label>
      {isExact && (
        <>
          <label class="unseen" for={`${id}t`}>
            {t('ids.list')}
          </label>
          <textarea
            id={`${id}t`}
            class="mono"
            rows={Math.min(4, Math.max(1, total))}
            spellcheck={false}
            placeholder={joins ? '10.0.3.14@7#120' : (doc.value.snapshot.consumers[0]?.id ?? '')}
            defaultValue={known.join('\n')}
            key={`${joins}${known.length === 0}${doc.value.snapshot.group ?? ''}`}
            onInput={(event) =>
              set(
                event.currentTarget.value
                  .split('\n')
                  .map((line) => line.trim())
                  .filter(Boolean),
              )
            }
          />
          <p class="hint">{joins ? t('ids.order') : t('ids.there')}</p>
        </>
      )}
    </fieldset>
  );
}

/** Rows of the panel of queues; more are edited in the group itself. */
const MOST_ROWS = 200;

function Queues() {
  const { snapshot, changes } = doc.value;
  const lost = new Set(changes.flatMap((change) => (change.kind === 'dropBroker' ? [change.broker] : [])));
  const rows = snapshot.topics.flatMap(({ topic, brokers }) => brokers.map((broker) => ({ topic, ...broker })));
  const planned = changes.filter(({ kind }) => kind === 'queues' || kind === 'dropBroker').length;
  return (
    <div class="control">
      <span class="label">{t('whatif.queues')}</span>
      <details class="panel">
        <summary>{planned > 0 ? t('whatif.queues.planned', { n: planned }) : t('whatif.queues.none')}</summary>
        <div class="panel-body">
          <p>
            <button type="button" onClick={() => edit((d) => growQueues(d, 1), 'queues')}>
              {t('whatif.queues.more')}
            </button>{' '}
            <button type="button" onClick={() => edit((d) => growQueues(d, -1), 'queues')}>
              {t('whatif.queues.fewer')}
            </button>
          </p>
          <fieldset>
            <legend>{t('whatif.brokers')}</legend>
            <div class="chips">
              {brokersOf(snapshot)
                .slice(0, MOST_ROWS)
                .map((broker) => (
                  <label class="chip" key={broker}>
                    <input
                      type="checkbox"
                      checked={lost.has(broker)}
                      onChange={() => edit((d) => toggleBroker(d, broker))}
                    />
                    <Name>{broker}</Name>
                  </label>
                ))}
            </div>
          </fieldset>
          <table class="data">
            <caption>{t('whatif.queues.table')}</caption>
            <thead>
              <tr>
                <th scope="col">{t('topic')}</th>
                <th scope="col">{t('broker')}</th>
                <th scope="col">{t('now')}</th>
                <th scope="col">{t('then')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, MOST_ROWS).map(({ topic, broker, readQueues }) => {
                const change = changes.find((c) => c.kind === 'queues' && c.topic === topic && c.broker === broker);
                const then = change?.kind === 'queues' ? change.readQueues : readQueues;
                return (
                  <tr key={`${topic}\n${broker}`}>
                    <th scope="row">
                      <Name>{topic}</Name>
                    </th>
                    <td>
                      <Name>{broker}</Name>
                    </td>
                    <td class="number">{readQueues}</td>
                    <td>
                      <input
                        type="number"
                        min={0}
                        max={100000}
                        value={then}
                        aria-label={t('whatif.queues.of', { topic, broker })}
                        onInput={(event) => {
                          const count = event.currentTarget.valueAsNumber;
                          if (count >= 0)
                            edit(
                              (d) => setQueuesAfter(d, topic, broker, Math.min(100_001, Math.floor(count))),
                              `q${topic}\n${broker}`,
                            );
                        }}
                      />
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      </details>
    </div>
  );
}
