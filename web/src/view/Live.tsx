import { liveGroup, liveGroups } from '../state';
import { listLiveGroups, openLiveGroup } from '../actions';
import { isServed } from '../live';
import { t } from '../i18n';
import { visible } from './Name';

/** The groups of the cluster, where `evenkeel serve` serves the page. */
export function Live() {
  if (!isServed) return null;
  const groups = liveGroups.value;
  const chosen = liveGroup.value;
  return (
    <span class="group">
      <label class="select">
        <span class="unseen">{t('live')}</span>
        <select
          value={chosen ?? ''}
          onFocus={() => void listLiveGroups()}
          onChange={(event) => void openLiveGroup(event.currentTarget.value)}
        >
          <option value="" disabled={chosen !== null}>
            {t('live')}
          </option>
          {groups.map((name) => (
            <option value={name} key={name}>
              {visible(name)}
            </option>
          ))}
        </select>
      </label>
      {chosen !== null && (
        <button
          type="button"
          onClick={() => void openLiveGroup(chosen)}
          aria-label={t('live.again')}
          title={t('live.again')}
        >
          ⟳
        </button>
      )}
    </span>
  );
}
