import { takeCatalog } from '../../src/skills/catalog/catalog.ts';
import type { SelectionOptions } from '../../src/skills/subsystem.ts';

/** Who asks for what, as the vectors write it. */
export interface SelectionInput {
  consumer?: string;
  includeInternal?: boolean;
  refs?: string[];
  /** Full ids of the snapshot in hand. */
  catalog?: string[];
}

/** Gives the options that a selection means. */
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
