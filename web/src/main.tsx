import { effect } from '@preact/signals';
import { render } from 'preact';
import './css/index.css';
import './settings';
import { begin } from './actions';
import { listenToKeys } from './keys';
import { engineUnderWay, startEngine } from './session';
import { engine, isVerdictSeen, outcome } from './state';
import { App } from './view/App';
import { keepOffline } from './offline';

startEngine();
begin();
listenToKeys();

/** Worker and wasm are fetched by way of this thread: had it to draw first, they would wait. Till then the skeleton of index.html is seen. */
const PATIENCE_MS = 150;
const patience = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS));
void Promise.race([engineUnderWay, patience]).then(() => {
  const root = document.getElementById('app');
  if (!root) return;
  root.replaceChildren();
  render(<App />, root);
});

// The verdict is drawn before what stands below it, and before anything is kept for another visit.
const stop = effect(() => {
  if (!outcome.value && engine.value.state !== 'broken') return;
  requestAnimationFrame(() => setTimeout(() => (isVerdictSeen.value = true)));
});
effect(() => {
  if (!isVerdictSeen.value) return;
  stop();
  keepOffline();
});
