/** After the first visit the page works without its server: a service worker beside it keeps the files. */
export function keepOffline(): void {
  if (!import.meta.env.PROD || import.meta.env.MODE === 'single' || !('serviceWorker' in navigator)) return;
  // Not being kept is no fault of the page: private windows and plain http refuse it.
  void navigator.serviceWorker.register(new URL('sw.js', document.baseURI)).catch(() => undefined);
}
