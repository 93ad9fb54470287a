/**
 * Runs a part of the tests: `node scripts/test.ts quick|rest|all [vitest's arguments]`. Files that the arguments name run completely, whatever their
 * part.
 */
import { parseCLI } from 'vitest/node';
import { PART_VARIABLE } from './suite-parts.ts';

const [part = 'all', ...args] = process.argv.slice(2);
const { filter } = parseCLI(['vitest', 'run', ...args]);
process.env[PART_VARIABLE] = filter.length > 0 ? 'all' : part;
process.argv.splice(2, process.argv.length, 'run', ...args);
await import(new URL('../node_modules/vitest/vitest.mjs', import.meta.url).href);
