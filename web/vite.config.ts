import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** Nothing from elsewhere, no script or style in the page, and no code from text but WebAssembly. */
const CSP = {
  'default-src': "'none'",
  'script-src': "'self' 'wasm-unsafe-eval'",
  'style-src': "'self'",
  'img-src': "'self' data: blob:",
  'connect-src': "'self'",
  'worker-src': "'self'",
  'manifest-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
};

const text = (csp: Record<string, string>) =>
  Object.entries(csp)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');
const sha256 = (source: string) => `'sha256-${createHash('sha256').update(source).digest('base64')}'`;

/**
 * The page says itself where the wasm lies (src/assets.ts). The package's own guess, and its second file for the wire
 * protocol, which the page does not use, would each be shipped beside it.
 */
function noGuesses(): Plugin {
  return {
    name: 'no-guesses',
    transform(code, id) {
      if (!id.includes('/node_modules/evenkeel/')) return undefined;
      return code.replace(/new URL\(["']\.\/\w+\.wasm["'],\s*import\.meta\.url\)/g, 'undefined');
    },
  };
}

/** While developing, the server's own scripts and styles are in the page, and its socket is needed. */
function policy(isDev: boolean): Plugin {
  const csp = isDev
    ? {
        ...CSP,
        'script-src': "'self' 'unsafe-inline' 'wasm-unsafe-eval'",
        'style-src': "'self' 'unsafe-inline'",
        'connect-src': "'self' ws:",
      }
    : CSP;
  return { name: 'policy', transformIndexHtml: (html) => html.replace('%CSP%', text(csp)) };
}

/** The browser begins to fetch the wasm file when it has the page, not when the script that asks for it runs. */
function early(): Plugin {
  return {
    name: 'early',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_, { bundle = {} }) {
        const files = Object.keys(bundle).filter((name) => name.endsWith('.wasm'));
        return files.map((name) => ({
          tag: 'link',
          attrs: { rel: 'preload', as: 'fetch', type: 'application/wasm', crossorigin: true, href: `./${name}` },
          injectTo: 'head-prepend' as const,
        }));
      },
    },
  };
}

/** Lists the page's files for the service worker, under a name that changes when any of them does. */
function serviceWorker(): Plugin {
  return {
    name: 'service-worker',
    apply: 'build',
    generateBundle(_, bundle) {
      const files = ['./', ...Object.keys(bundle).filter((name) => !name.endsWith('.html'))];
      const version = createHash('sha256').update(files.join()).digest('hex').slice(0, 16);
      this.emitFile({ type: 'asset', fileName: 'sw.js', source: workerSource(files, version) });
    },
  };
}

function workerSource(files: string[], version: string): string {
  return `// Keeps the page for use without its server. Files have names that change with what is in them, so those that are kept
// are as good as new; the page itself is asked for first, so that a new version is seen at once.
const KEPT = 'evenkeel-${version}';
const FILES = ${JSON.stringify(files)};
self.addEventListener('install', (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});
self.addEventListener('activate', (event) => {
  const old = (name) => name.startsWith('evenkeel-') && name !== KEPT;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name)))).then(() => self.clients.claim()));
});
self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== 'GET' || url.origin !== self.location.origin) return;
  const page = new URL('./', self.location.href);
  if (event.request.mode === 'navigate') {
    if (url.pathname !== page.pathname && url.pathname !== page.pathname + 'index.html') return;
    event.respondWith(fetch(event.request).catch(() => caches.match(page.href)));
  } else if (FILES.some((file) => new URL(file, page).href === url.href)) {
    event.respondWith(caches.match(url.href).then((kept) => kept ?? fetch(event.request)));
  }
});
`;
}

/** One HTML file with everything inside. Its one script and one style are named in the policy by their hash. */
function singleFile(): Plugin {
  return {
    name: 'single-file',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      const html = bundle['index.html'];
      if (html?.type !== 'asset') this.error('there is no page');
      let page = String(html.source);
      let [script, style] = ['', ''];
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === 'chunk') script += file.code;
        else if (name.endsWith('.css')) style += String(file.source);
        if (name !== 'index.html') delete bundle[name];
      }
      // What would end the element early is written in another way; it stands in strings only.
      script = script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
      const csp = text({
        ...CSP,
        'script-src': `${sha256(script)} 'wasm-unsafe-eval'`,
        'style-src': sha256(style),
        'connect-src': "'none'",
        'worker-src': 'blob: data:',
      });
      page = page
        .replace(/<script type="module"[^>]*><\/script>/, '')
        .replace(/<link rel="(?:stylesheet|modulepreload)"[^>]*>/g, '')
        .replace('%CSP%', () => csp)
        .replace('</head>', () => `<style>${style}</style></head>`)
        .replace('</body>', () => `<script type="module">${script}</script></body>`);
      html.source = page;
      html.fileName = 'evenkeel-planner.html';
    },
  };
}

export default defineConfig(({ command, mode }) => {
  const single = mode === 'single';
  return {
    base: './',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    plugins: [noGuesses(), ...(single ? [singleFile()] : [policy(command === 'serve'), early(), serviceWorker()])],
    resolve: single ? { alias: [{ find: /^\.\/assets$/, replacement: '/src/assets.single.ts' }] } : {},
    // Browsers load no module as a worker from a file's own data.
    worker: { format: single ? ('iife' as const) : ('es' as const), plugins: () => [noGuesses()] },
    build: {
      outDir: single ? 'dist/single' : 'dist/page',
      target: 'es2022',
      modulePreload: { polyfill: false },
      assetsInlineLimit: single ? 100_000_000 : 0,
      cssCodeSplit: false,
      reportCompressedSize: false,
    },
    // A size test compresses for seconds where the machine is busy.
    test: { include: ['test/**/*.test.ts'], testTimeout: 60_000 },
  };
});
