/** Names of the files beside the program, in the sandbox. */
export const PDF_FILES = {
  unpdf: 'unpdf/index.mjs',
  pdfjs: 'unpdf/pdfjs.mjs',
  worker: 'read-text.mjs',
  document: 'document.pdf',
  text: 'text.txt',
} as const;

/** Exit code of the program if the document needs too much memory. */
export const MEMORY_EXIT = 86;

/**
 * The program of the sandbox. A thread with a bounded heap reads the document; the main thread watches the memory of both, since not
 * every sandbox has a bound on that.
 *
 * @param memoryMib the most memory of both threads together
 */
export function pdfProgram(memoryMib: number): string {
  return `import { Worker } from 'node:worker_threads';
const limit = ${memoryMib} * 1024 * 1024;
const worker = new Worker(new URL('./${PDF_FILES.worker}', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: ${Math.ceil(memoryMib / 2)} } });
const watch = setInterval(() => { if (process.memoryUsage.rss() > limit) process.exit(${MEMORY_EXIT}); }, 20);
worker.on('error', (error) => {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') process.exit(${MEMORY_EXIT});
  console.error(String(error.name) + ': ' + String(error.message).slice(0, 200));
  process.exit(1);
});
worker.on('exit', () => clearInterval(watch));
`;
}

/** The thread that reads the document. */
export const PDF_WORKER: string = `import { readFileSync, writeFileSync } from 'node:fs';
import { definePDFJSModule, extractText } from './${PDF_FILES.unpdf}';
await definePDFJSModule(() => import('./${PDF_FILES.pdfjs}'));
const { text } = await extractText(new Uint8Array(readFileSync('${PDF_FILES.document}')));
writeFileSync(process.env.SKILLCELL_OUTPUT + '/${PDF_FILES.text}', text.join('\\n\\n') + '\\n');
`;
