import * as z from 'zod/mini';
import { toolSchema, type Tool } from '../../tools/define/tool.ts';

/** How the ids of tools begin that are the orchestrator's own. */
const OWN_PREFIX = 'skills.';

/** The tools of an orchestrator. Only what is wrong with them counts: a tool may be an instance of a class, which a copy would not be. */
export const toolsSchema: z.ZodMiniType<readonly Tool[]> = z.array(toolSchema).check(
  z.superRefine((tools, context) => {
    const ids = tools.map(({ id }) => id);
    const ours = ids.findIndex((id) => id.startsWith(OWN_PREFIX));
    if (ours >= 0) {
      const message = `must not begin with ${OWN_PREFIX}: those are tools that jobs with skills may have anyway`;
      context.addIssue({ code: 'custom', path: [ours, 'id'], message });
    }
    const again = ids.findIndex((id, index) => ids.indexOf(id) !== index);
    if (again < 0) return;
    context.addIssue({ code: 'custom', path: [again, 'id'], message: 'must be an id that no tool before it has' });
  }),
);
