import { render } from 'preact';
import './css/index.css';
import './settings';
import { begin } from './actions';
import { listenToKeys } from './keys';
import { startEngine } from './session';
import { App } from './view/App';
import { keepOffline } from './offline';

startEngine();
begin();
listenToKeys();
const root = document.getElementById('app');
if (root) {
  root.replaceChildren();
  render(<App />, root);
}
keepOffline();
