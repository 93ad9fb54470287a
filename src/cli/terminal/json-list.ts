import type { CliOutput } from './cli-output.ts';
import { escapeJson } from './escape-controls.ts';

/** A JSON document that is written row by row. */
export interface JsonList {
  add(row: unknown): Promise<void>;
  /** Writes what stands behind the rows, or all where there are none. */
  end(): Promise<void>;
}

/**
 * Writes one JSON document on stdout whose long list is never in memory as a whole, with the bytes that it would have otherwise.
 *
 * @param name of the list, which is empty in the document
 * @param document gives the document; what stands before the list has to be known with the first row, the rest at the end
 */
export function writeJsonList(output: CliOutput, name: string, document: () => object): JsonList {
  let rows = 0;
  let lineIndent = '';
  const parts = (): { head: string; tail: string; indent: string } => {
    const whole = `${escapeJson(JSON.stringify(document(), null, 2))}\n`;
    const key = whole.indexOf(`"${name}": []`);
    const split = key + name.length + 5;
    const indent = whole.slice(whole.lastIndexOf('\n', key), key);
    return { head: whole.slice(0, split), tail: whole.slice(split), indent };
  };
  return {
    async add(row) {
      const { head, indent } = rows === 0 ? parts() : { head: ',', indent: lineIndent };
      lineIndent = indent;
      rows += 1;
      const text = escapeJson(JSON.stringify(row, null, 2)).replaceAll('\n', `${indent}  `);
      await output.text(`${head}${indent}  ${text}`);
    },
    async end() {
      const { head, tail, indent } = parts();
      await output.text(rows === 0 ? head + tail : indent + tail);
    },
  };
}
