/** The page's side of the worker: starts it, keeps one run under way, and stops it by starting a new worker. */
import type { Answers, Job, Reply, Request, Wasm } from './worker/protocol';
import { available, doc, engine, isTooLarge, outcome, rolling, runState, selected, type Outcome } from './state';
import { makeWorker, wasm } from './assets';
import type { Refusal, Said } from './types';

type Question = Exclude<Request, { kind: 'start' | 'run' }>;
type Asked = { resolve: (value: never) => void; reject: (refusal: Refusal) => void };

const NO_WORKER: Said = { en: 'the worker did not start', zh: 'Worker 没有启动' };

/** What the browser says, in whatever language. */
function unsaid(text: string): Said {
  return { en: text, zh: text };
}

/**
 * Compiled here while the worker starts, and once for all workers. If that fails, the worker tries by itself and says why.
 */
const compiled: Promise<Wasm> = compile().catch(() => wasm);

let loaded: () => void;
/** Resolves when nothing that the engine's start needs is still on its way. */
export const engineUnderWay = Promise.all([compiled, new Promise<void>((resolve) => (loaded = resolve))]);

async function compile(): Promise<WebAssembly.Module> {
  if (typeof wasm !== 'string') return WebAssembly.compile(wasm);
  const response = await fetch(wasm);
  // Not every file server knows what it sends, and the worker tells more of one that has nothing.
  return WebAssembly.compileStreaming(response);
}

let worker: Worker | null = null;
let number = 0;
let running: { id: number; shown: Outcome } | null = null;
const asked = new Map<number, Asked>();

export function startEngine(): void {
  worker?.terminate();
  for (const { reject } of asked.values()) reject({ code: 'CANCELLED', message: { en: 'cancelled', zh: '已取消' } });
  asked.clear();
  try {
    worker = makeWorker();
  } catch (error) {
    giveUp({ code: 'NO_WORKER', message: unsaid(String(error)) });
    return;
  }
  worker.onmessage = ({ data }: MessageEvent<Reply>) => hear(data);
  worker.onerror = (event) => {
    event.preventDefault();
    if (engine.value.state === 'ready') fail({ code: 'FAILED', message: unsaid(event.message) });
    else giveUp({ code: 'NO_WORKER', message: event.message ? unsaid(event.message) : NO_WORKER });
  };
  const begun = worker;
  void compiled.then((wasm) => begun.postMessage({ kind: 'start', wasm } satisfies Request));
}

/**
 * Reckons the current document. What is shown stays until there is something to show instead. While the engine starts, the worker
 * keeps the question until it can answer: it would have to wait for this thread, which draws the page then.
 */
export function recompute(): void {
  if (engine.value.state === 'broken' || isTooLarge.value) return;
  const job = jobOf();
  number += 1;
  const old = outcome.value;
  const shown: Outcome = {
    doc: doc.value,
    selected: selected.value,
    rows: old?.rows ?? new Map(),
    picture: null,
    refusal: null,
    findings: old?.findings ?? [],
    strip: null,
    milliseconds: null,
    marks: null,
  };
  running = { id: number, shown };
  runState.value = { state: 'running', since: performance.now(), done: 0, of: 1 };
  rolling.value = null;
  post({ kind: 'run', id: number, job });
}

export function cancel(): void {
  running = null;
  runState.value = { state: 'cancelled' };
  startEngine();
}

export function jobOf(): Job {
  return {
    snapshot: doc.value.snapshot,
    changes: doc.value.changes,
    strategies: available.value,
    selected: selected.value,
  };
}

/** Rejects with a `Refusal`. */
export function ask<K extends Question['kind']>(
  question: Omit<Extract<Question, { kind: K }>, 'id'> & { kind: K },
): Promise<Answers[K]> {
  number += 1;
  const id = number;
  return new Promise<Answers[K]>((resolve, reject) => {
    asked.set(id, { resolve, reject });
    post({ ...question, id } as unknown as Question);
  });
}

function hear(reply: Reply): void {
  switch (reply.kind) {
    case 'loaded':
      loaded();
      return;
    case 'started':
      if (engine.value.state !== 'ready') engine.value = { state: 'ready', version: reply.version };
      return;
    case 'broken':
      giveUp(reply.refusal);
      return;
    case 'part': {
      if (!running || running.id !== reply.id) return;
      const { rows, ...rest } = reply.part;
      const all = new Map(running.shown.rows);
      for (const row of rows ?? []) all.set(row.strategy, { ...row, of: running.shown.doc });
      running.shown = { ...running.shown, ...rest, rows: all };
      // Before this run's picture, what is shown is the whole of the last result rather than a half of this one; if there is
      // none, a verdict without a picture is better than nothing.
      if ('picture' in reply.part || running.shown.picture || running.shown.refusal || !outcome.value?.picture)
        outcome.value = running.shown;
      if (runState.value.state === 'running') runState.value = { ...runState.value, ...reply.progress };
      return;
    }
    case 'done':
      if (!running || running.id !== reply.id) return;
      outcome.value = { ...running.shown, milliseconds: reply.milliseconds, marks: reply.marks };
      running = null;
      runState.value = { state: 'idle' };
      return;
    case 'answer':
      asked.get(reply.id)?.resolve(reply.value as never);
      asked.delete(reply.id);
      return;
    case 'refused':
      if (running?.id === reply.id) {
        running = null;
        runState.value = { state: 'failed', refusal: reply.refusal };
      }
      asked.get(reply.id)?.reject(reply.refusal);
      asked.delete(reply.id);
      return;
  }
}

function giveUp(refusal: Refusal): void {
  running = null;
  runState.value = { state: 'idle' };
  engine.value = { state: 'broken', refusal };
}

function fail(refusal: Refusal): void {
  running = null;
  runState.value = { state: 'failed', refusal };
  startEngine();
}

function post(request: Request): void {
  worker?.postMessage(request);
}
