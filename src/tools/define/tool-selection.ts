import { nearName } from '../../contracts/text/near-name.ts';
import { globMatch } from '../../skills/text/glob-match.ts';
import type { Tool } from './tool.ts';

/** The tools that match the patterns, in the order of the tools, and the first pattern without a match. */
export interface SelectedTools {
  tools: Tool[];
  /** A pattern that matches no tool, and the most similar id. */
  unknown?: { pattern: string; near: string | undefined };
}

/** Chooses tools. `*` in a pattern stands for any characters, `?` for one. */
export function selectTools(tools: readonly Tool[], patterns: readonly string[]): SelectedTools {
  const isMatch = (pattern: string, { id }: Tool): boolean => globMatch([...pattern], [...id]);
  const unknown = patterns.find((pattern) => !tools.some((tool) => isMatch(pattern, tool)));
  return {
    tools: tools.filter((tool) => patterns.some((pattern) => isMatch(pattern, tool))),
    ...(unknown === undefined
      ? {}
      : {
          unknown: {
            pattern: unknown,
            near: nearName(
              unknown,
              tools.map(({ id }) => id),
            ),
          },
        }),
  };
}
