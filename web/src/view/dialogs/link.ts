/** The link of the plan that is shown: the page's address, and everything else behind the `#`. */
import { useEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { linked } from '../../model/doc';
import { ask } from '../../session';
import { doc } from '../../state';
import type { Refusal } from '../../types';

/** Empty until the engine has answered; refused, for example, if it would be too long. */
export function useLink(redact: boolean): { url: string; refused: Refusal | null } {
  const url = useSignal('');
  const refused = useSignal<Refusal | null>(null);
  useEffect(() => {
    let current = true;
    refused.value = null;
    ask({ kind: 'link', plan: linked(doc.value), redact }).then(
      (link) => {
        if (current) url.value = `${location.href.split('#')[0]}${link.slice(link.indexOf('#'))}`;
      },
      (refusal: Refusal) => {
        if (current) [url.value, refused.value] = ['', refusal];
      },
    );
    return () => {
      current = false;
    };
  }, [redact, doc.value]);
  return { url: url.value, refused: refused.value };
}
