import { takeCatalog } from '../../src/skills/catalog/catalog.ts';
import type { SelectionOptions } from '../../src/skills/subsystem.ts';

/** A consumer and its selection, in the form of the vectors. */
export interface SelectionInput {
  consumer?: string;
  includeInternal?: boolean;
  refs?: string[];
  /** Full ids of the snapshot in hand. */
  catalog?: string[];
}

/** Converts a selection to options. */
export function selectionOptions(input: SelectionInput): SelectionOptions {
  const { consumer, includeInternal, catalog } = input;
  return {
    consumer,
    includeInternal,
    catalog:
      catalog &&
      takeCatalog(
        consumer,
        catalog.map((id) => ({ id })),
      ),
  };
}
