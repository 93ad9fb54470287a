/** Names of files that the program finds beside itself, in the sandbox. */
export const PDF_FILES = {
  unpdf: 'unpdf/index.mjs',
  pdfjs: 'unpdf/pdfjs.mjs',
  worker: 'read-text.mjs',
  document: 'document.pdf',
  text: 'text.txt',
} as const;

/** What the program ends with where the document needs too much memory. */
export const MEMORY_EXIT = 86;

/**
 * What runs in the sandbox. The document is read in a thread with a bound on its heap; the first one looks at the memory of both, since not
 * every sandbox has a bound on that.
 *
 * @param memoryMib of both together
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

/** The thread that reads. */
export const PDF_WORKER: string = `import { readFileSync, writeFileSync } from 'node:fs';
import { definePDFJSModule, extractText } from './${PDF_FILES.unpdf}';
await definePDFJSModule(() => import('./${PDF_FILES.pdfjs}'));
const { text } = await extractText(new Uint8Array(readFileSync('${PDF_FILES.document}')));
writeFileSync(process.env.SKILLCELL_OUTPUT + '/${PDF_FILES.text}', text.join('\\n\\n') + '\\n');
`;
