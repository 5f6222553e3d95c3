import { useId } from 'preact/hooks';
import { doc } from '../../state';
import { edit } from '../../actions';
import { brokersOf, roomRules, type RoomSource } from '../../model/doc';
import { setSettings } from '../../model/edit';
import { listsOf, listsText, type ListProblem } from '../../model/lists';
import { useSignal } from '@preact/signals';
import { num, t } from '../../i18n';
import { visible } from '../Name';
import { Dialog } from './Dialog';

/** Settings that strategies need: virtual nodes, rooms, lists. */
export function StrategyDialog() {
  return (
    <Dialog title={t('settings.title')}>
      <Ring />
      <Rooms />
      <Nearby />
      <Lists />
    </Dialog>
  );
}

function Ring() {
  const id = useId();
  const { settings } = doc.value;
  return (
    <fieldset>
      <legend>CONSISTENT_HASH</legend>
      <div class="controls">
        <label for={`${id}v`}>{t('settings.nodes')}</label>
        <input
          id={`${id}v`}
          type="number"
          min={1}
          max={1000}
          value={settings.virtualNodes}
          onInput={(event) => {
            const count = event.currentTarget.valueAsNumber;
            if (count >= 1) edit((d) => setSettings(d, { virtualNodes: Math.min(1000, Math.floor(count)) }), 'nodes');
          }}
        />
        <label for={`${id}h`}>{t('settings.hash')}</label>
        <select
          id={`${id}h`}
          value={settings.hash}
          onChange={(event) => edit((d) => setSettings(d, { hash: event.currentTarget.value as typeof settings.hash }))}
        >
          <option value="java-md5">{t('settings.java')}</option>
          <option value="go-crc32">{t('settings.go')}</option>
        </select>
      </div>
    </fieldset>
  );
}

function Rooms() {
  const id = useId();
  const { settings, snapshot } = doc.value;
  const rooms = [
    ...new Set([
      ...brokersOf(snapshot).flatMap((name) => (name.includes('@') ? [name.slice(0, name.indexOf('@'))] : [])),
      ...settings.rooms,
    ]),
  ];
  return (
    <fieldset>
      <legend>MACHINE_ROOM</legend>
      <p class="hint">{t('settings.rooms.rule')}</p>
      <label for={id}>{t('settings.rooms')}</label>
      <input
        id={id}
        class="mono"
        defaultValue={settings.rooms.join(', ')}
        placeholder={rooms.join(', ') || 'room-1, room-2'}
        onInput={(event) => {
          const named = event.currentTarget.value
            .split(',')
            .map((room) => room.trim())
            .filter(Boolean);
          edit((d) => setSettings(d, { rooms: named }), 'rooms');
        }}
      />
      {rooms.length > 0 && (
        <button type="button" onClick={() => edit((d) => setSettings(d, { rooms }))}>
          {t('settings.rooms.all', { rooms: visible(rooms.slice(0, 6).join(', ')) })}
        </button>
      )}
    </fieldset>
  );
}

const NEW_RULES: RoomSource = { kind: 'prefix', brokers: '', consumers: '' };

function Nearby() {
  const id = useId();
  const rules = doc.value.settings.roomOf;
  const set = (part: Partial<RoomSource>) =>
    edit((d) => setSettings(d, { roomOf: { ...(d.settings.roomOf ?? NEW_RULES), ...part } }), 'nearby');
  const isBad = rules?.kind === 'pattern' && roomRules(rules) === null;
  return (
    <fieldset>
      <legend>MACHINE_ROOM_NEARBY</legend>
      <label for={`${id}k`}>{t('settings.nearby')}</label>
      <select
        id={`${id}k`}
        value={rules?.kind ?? ''}
        onChange={(event) => {
          const kind = event.currentTarget.value as RoomSource['kind'] | '';
          if (kind === '') edit((d) => setSettings(d, { roomOf: null }));
          else
            set({
              kind,
              ...(kind === 'pattern' && !rules?.brokers ? { brokers: '^([^@]+)@', consumers: '^([^@-]+)[@-]' } : {}),
            });
        }}
      >
        <option value="">{t('settings.nearby.none')}</option>
        <option value="prefix">{t('settings.nearby.prefix')}</option>
        <option value="table">{t('settings.nearby.table')}</option>
        <option value="pattern">{t('settings.nearby.pattern')}</option>
      </select>
      {rules?.kind === 'prefix' && <p class="hint">{t('settings.prefix.rule')}</p>}
      {rules && rules.kind !== 'prefix' && (
        <div class="pair" key={rules.kind}>
          {(['brokers', 'consumers'] as const).map((of) => (
            <div key={of}>
              <label for={`${id}${of}`}>{t(`settings.of.${of}`)}</label>
              <textarea
                id={`${id}${of}`}
                class="mono"
                rows={rules.kind === 'table' ? 5 : 1}
                spellcheck={false}
                defaultValue={rules[of]}
                placeholder={rules.kind === 'table' ? 'name = room' : '^([^@]+)@'}
                onInput={(event) => set({ [of]: event.currentTarget.value })}
              />
            </div>
          ))}
        </div>
      )}
      {isBad && (
        <p class="bad" role="alert">
          {t('settings.pattern.bad')}
        </p>
      )}
    </fieldset>
  );
}

function Lists() {
  const id = useId();
  const problems = useSignal<readonly ListProblem[]>([]);
  return (
    <fieldset>
      <legend>CONFIG</legend>
      <p class="hint">{t('settings.lists.rule')}</p>
      <label for={id}>{t('settings.lists')}</label>
      <textarea
        id={id}
        class="mono"
        rows={5}
        spellcheck={false}
        defaultValue={listsText(doc.value.settings.lists)}
        placeholder={'10.0.3.11@7#812 orders broker-a 0-3\n10.0.3.12@7#944 orders broker-a 4-7'}
        onInput={(event) => {
          const read = listsOf(event.currentTarget.value);
          problems.value = read.problems;
          edit((d) => setSettings(d, { lists: read.lists }), 'lists');
        }}
      />
      {problems.value.length > 0 && (
        <ul class="bad">
          {problems.value.slice(0, 10).map(({ line, text }) => (
            <li key={line}>
              {t('problem.line', { line: num(line) })}{' '}
              <code>
                <bdi>{visible(text)}</bdi>
              </code>{' '}
              {t('problem.expected', { what: 'id topic broker 0-3,5' })}
            </li>
          ))}
        </ul>
      )}
    </fieldset>
  );
}
