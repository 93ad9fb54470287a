import type { CliOutput } from './cli-output.ts';
import { escapeJson } from './escape-controls.ts';

/** A JSON document that is written row by row. */
export interface JsonList {
  add(row: unknown): Promise<void>;
  /** Writes the text after the rows, or the whole document if there are no rows. */
  end(): Promise<void>;
}

/**
 * Writes one JSON document to stdout whose long list is never in memory as a whole. The bytes are those of one `JSON.stringify`.
 *
 * @param name key of the list, which is empty in the document
 * @param document gives the document; fields before the list have to be known with the first row, the others at the end
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
