import * as z from 'zod/mini';
import { toolSchema, type Tool } from '../broker/tool.ts';

/** The tools of an orchestrator. Only what is wrong with them counts: a tool may be an instance of a class, which a copy would not be. */
export const toolsSchema: z.ZodMiniType<readonly Tool[]> = z.array(toolSchema).check(
  z.superRefine((tools, context) => {
    const ids = tools.map(({ id }) => id);
    const again = ids.findIndex((id, index) => ids.indexOf(id) !== index);
    if (again < 0) return;
    context.addIssue({ code: 'custom', path: [again, 'id'], message: 'must be an id that no tool before it has' });
  }),
);
