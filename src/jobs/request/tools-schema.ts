import * as z from 'zod/mini';
import { toolSchema, type Tool } from '../../tools/define/tool.ts';

/** Reserved prefix of the ids of built-in tools. */
const OWN_PREFIX = 'skills.';

/** Checks tools. Use only its issues, not its parsed copies: a tool may be an instance of a class. */
export const toolsSchema: z.ZodMiniType<readonly Tool[]> = z.array(toolSchema).check(
  z.superRefine((tools, context) => {
    const ids = tools.map(({ id }) => id);
    const ours = ids.findIndex((id) => id.startsWith(OWN_PREFIX));
    if (ours >= 0) {
      const message = `must not begin with ${OWN_PREFIX}, which is reserved for the tools of jobs with skills`;
      context.addIssue({ code: 'custom', path: [ours, 'id'], message });
    }
    const again = ids.findIndex((id, index) => ids.indexOf(id) !== index);
    if (again < 0) return;
    context.addIssue({ code: 'custom', path: [again, 'id'], message: 'must be an id that no tool before it has' });
  }),
);
