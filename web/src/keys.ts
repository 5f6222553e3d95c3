/** Single keys. None acts while something is typed or a dialog is open, and all can be switched off. */
import { addConsumers, choose } from './actions';
import { strategyOf } from './model/doc';
import { STRATEGY_NAMES } from './model/names';
import { keysOn } from './settings';
import { dialog, doc, mapSide } from './state';

export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (!keysOn.value || dialog.value || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
      return;
    if (isTyping(event.target)) return;
    if (act(event.key)) event.preventDefault();
  });
}

function act(key: string): boolean {
  const strategy = /^[1-7]$/.test(key) ? STRATEGY_NAMES[Number(key) - 1] : undefined;
  if (strategy) {
    if (strategyOf(doc.value, strategy)) choose(strategy);
    return true;
  }
  switch (key) {
    case '+':
    case '=':
      addConsumers(1);
      return true;
    case '-':
      addConsumers(-1);
      return true;
    case 'b':
      mapSide.value = mapSide.value === 'after' ? 'before' : 'after';
      return true;
    case 'm':
      document.getElementById('moves')?.focus();
      return true;
    case '/':
      document.getElementById('moves-filter')?.focus();
      return true;
    case 's':
      dialog.value = 'share';
      return true;
    case '?':
      dialog.value = 'help';
      return true;
    default:
      return false;
  }
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== 'radio' && target.type !== 'checkbox';
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}
