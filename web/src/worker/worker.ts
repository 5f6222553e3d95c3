/** The worker: holds the engine and answers one request after the other. */
import { fromUrl, parse, refusal, start, toUrl, version } from '../engine';
import { report, rolling, run } from './run';
import type { Answers, Linked, Part, Progress, Reply, Request, Wasm } from './protocol';

/** The newest run that was asked for; an older one stops when it sees this. */
let current = 0;

/** Whether the engine runs, once that is known; questions that come before wait. */
let started: (runs: Promise<boolean>) => void;
const begun = new Promise<boolean>((resolve) => (started = resolve));

self.onmessage = ({ data }: MessageEvent<Request>) => {
  void answer(data);
};

async function answer(request: Request): Promise<void> {
  if (request.kind === 'start') {
    started(begin(request.wasm));
    return;
  }
  const runs = await begun;
  switch (request.kind) {
    case 'run':
      // That it cannot run has been told.
      if (!runs) return;
      try {
        await work(request);
      } catch (error) {
        tell({ kind: 'refused', id: request.id, refusal: refusal(error) });
      }
      return;
    default:
      try {
        tell({ kind: 'answer', id: request.id, value: value(request) });
      } catch (error) {
        tell({ kind: 'refused', id: request.id, refusal: refusal(error) });
      }
  }
}

type Question = Exclude<Request, { kind: 'start' | 'run' }>;

function value(question: Question): Answers[Question['kind']] {
  switch (question.kind) {
    case 'parse':
      return { alone: parse([question.text]), together: parse([...question.before, question.text]) };
    case 'link':
      return linkOf(question.plan, question.redact);
    case 'open':
      return fromUrl(question.url);
    case 'report':
      return report(question.job);
    case 'roll':
      return rolling(question.job);
  }
}

function linkOf({ snapshot, changes, strategies }: Linked, redact: boolean): string {
  return toUrl(snapshot, changes, { redact, strategies });
}

async function begin(wasm: Wasm): Promise<boolean> {
  try {
    await start(wasm);
    tell({ kind: 'started', version: { ...version } });
    return true;
  } catch (error) {
    tell({ kind: 'broken', refusal: refusal(error) });
    return false;
  }
}

/** Pieces that come within this time are told together, all but the first: fewer pictures are drawn twice. */
const TOGETHER_MS = 30;

async function work({ id, job }: Extract<Request, { kind: 'run' }>): Promise<void> {
  current = id;
  const began = performance.now();
  let told = -Infinity;
  let kept: Part = {};
  let last: Progress = { done: 0, of: 1 };
  const flush = () => {
    tell({ kind: 'part', id, part: kept, progress: last });
    kept = {};
    told = performance.now();
  };
  const emit = (part: Part, progress: Progress) => {
    kept = { ...kept, ...part, ...(part.rows && { rows: [...(kept.rows ?? []), ...part.rows] }) };
    last = progress;
    if (performance.now() - told > TOGETHER_MS) flush();
  };
  const marks = await run(job, emit, async () => {
    await nextTurn();
    return current === id;
  });
  if (!marks) return;
  flush();
  tell({ kind: 'done', id, milliseconds: performance.now() - began, marks });
}

/** Lets messages that wait be heard. Timers would wait longer than asked for. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

function tell(reply: Reply): void {
  self.postMessage(reply);
}

tell({ kind: 'loaded' });
