import { useDebouncedCallback } from '@mantine/hooks';
import { type ReactElement, useState } from 'react';
import { useFilters } from './address.tsx';
import { TextField } from './fields.tsx';

/** Time after the last key, in milliseconds. */
const SEARCH_MS = 300;

/** The search of a list. Its words come into the address, as `q`, when the typing pauses. */
export function SearchField(): ReactElement {
  const [query, set] = useFilters();
  const [words, setWords] = useState(query.get('q') ?? '');
  const search = useDebouncedCallback((text: string) => set('q', text), SEARCH_MS);
  const change = (text: string): void => {
    setWords(text);
    search(text);
  };
  return <TextField placeholder="Search" aria-label="Search" value={words} onChange={change} />;
}
