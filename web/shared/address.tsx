import { type AnchorProps, Anchor } from '@mantine/core';
import { type MouseEvent, type ReactElement, type ReactNode, useEffect, useSyncExternalStore } from 'react';

const CHANGED = 'addresschange';

/** The present address of the console. */
export interface Address {
  /** Parts of the path, decoded. */
  parts: string[];
  query: URLSearchParams;
}

/** Goes to an address of the console. */
export function goTo(to: string, { replace = false }: { replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  window.dispatchEvent(new Event(CHANGED));
}

/** The present address; the component renders again when it changes. */
export function useAddress(): Address {
  const text = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  const { pathname, searchParams } = new URL(text, location.origin);
  return { parts: pathname.split('/').filter(Boolean).map(decoded), query: searchParams };
}

/** Filters in the address: their values, and a function that changes one of them. */
export function useFilters(): [query: URLSearchParams, set: (name: string, value: string) => void] {
  const { query } = useAddress();
  return [
    query,
    (name, value) => {
      const next = new URLSearchParams(location.search);
      if (value === '') next.delete(name);
      else next.set(name, value);
      goTo(`${location.pathname}${next.size === 0 ? '' : `?${next}`}`, { replace: true });
    },
  ];
}

/** Properties of links: a click stays in the page, unless a key or another button asks for a new one. */
export function linkTo(to: string): { href: string; onClick: (event: MouseEvent) => void } {
  return {
    href: to,
    onClick(event) {
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      goTo(to);
    },
  };
}

/** A link to another view. */
export function Link({ to, children, ...rest }: AnchorProps & { to: string; children: ReactNode }): ReactElement {
  return (
    <Anchor {...linkTo(to)} {...rest}>
      {children}
    </Anchor>
  );
}

/** Names the page in the title of the window. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · skillcell`;
  }, [title]);
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('popstate', listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener('popstate', listener);
    window.removeEventListener(CHANGED, listener);
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A view of this name does not exist, and its page says so.
    return part;
  }
}
