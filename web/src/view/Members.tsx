import { member } from '../state';
import { loadsAfter, loadsBefore, picture } from '../derive';
import { num, t } from '../i18n';
import { Badge, Name } from './Name';
import { VirtualTable } from './Virtual';

/** Who is in the group, in the order in which strategies see them, with what each has before and after. */
export function Members() {
  const shown = picture.value;
  if (!shown || shown.members.length === 0) return null;
  const load = (loads: Int32Array, at: number, there: boolean) => (there ? num(loads[at] ?? 0) : '–');
  return (
    <section class="card members" aria-labelledby="members-head">
      <h2 id="members-head">{t('members', { n: shown.members.length })}</h2>
      <VirtualTable
        label={t('members', { n: shown.members.length })}
        heads={[t('member'), t('map.before'), t('map.after')]}
        count={shown.members.length}
        rowHeight={44}
        height={280}
        class="member-table"
        cells={(i) => {
          const one = shown.members[i];
          if (!one) return [];
          return [
            <button
              type="button"
              class="member-pick"
              aria-pressed={member.value === one.id}
              onClick={() => (member.value = member.value === one.id ? null : one.id)}
            >
              <Badge place={i} />
              <Name>{one.id}</Name>
              {!one.before && <span class="tag">{t('member.joins')}</span>}
              {!one.after && <span class="tag">{t('member.leaves')}</span>}
            </button>,
            load(loadsBefore.value, i, one.before),
            load(loadsAfter.value, i, one.after),
          ];
        }}
      />
      <p class="sentence">{t('members.order')}</p>
    </section>
  );
}
