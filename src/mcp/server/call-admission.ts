import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { ServerTool } from './tools/server-tool.ts';

/** Calls of all clients that run or wait. */
const MOST_CALLS = 64;
/** Bytes of their arguments, all together. */
const MOST_BYTES: number = 16 * 1024 * 1024;
/** Extra room for calls that free room for others. */
const KEPT_CALLS = 8;
const KEPT_BYTES: number = 64 * 1024;

/** Admits calls while there is room. */
export interface CallAdmission {
  /**
   * @returns a function that leaves again
   * @throws SkillcellError `orchestrator.queue-full`
   */
  enter(tool: Pick<ServerTool, 'name' | 'givesRoom'>, input: unknown): () => void;
}

/** Refuses calls beyond the limits before they are looked at: waiting calls are held in memory. */
export function createCallAdmission(): CallAdmission {
  let calls = 0;
  let bytes = 0;
  return {
    enter({ name, givesRoom = false }, input) {
      const size = textOf(input);
      const mostCalls = MOST_CALLS + (givesRoom ? KEPT_CALLS : 0);
      const mostBytes = MOST_BYTES + (givesRoom ? KEPT_BYTES : 0);
      if (calls >= mostCalls || bytes + size > mostBytes) {
        const message = `Cannot call ${name}: ${calls} calls with ${bytes} bytes of arguments are under way, and one more of ${size} bytes does not fit.`;
        throw new SkillcellError('orchestrator.queue-full', message, {
          hint: 'Wait for calls to be answered, or cancel some, before more are made.',
        });
      }
      calls += 1;
      bytes += size;
      return () => {
        calls -= 1;
        bytes -= size;
      };
    },
  };
}

/** Characters of all texts in a value, which make up most of the size of arguments. */
function textOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let size = 0;
  for (const [name, part] of Object.entries(value)) size += name.length + textOf(part);
  return size;
}
