import { deleteProperty, get, hasOwn, keys } from './captured.ts';

/** Sets environment variables for one run. Returns what takes them back, which counts once. */
export function lendVariables(environment: NodeJS.ProcessEnv, variables: Readonly<Record<string, string>>): () => void {
  const names = keys(variables);
  const before: Record<string, string> = {};
  for (const name of names) {
    if (hasOwn(environment, name)) before[name] = get(environment, name) as string;
    environment[name] = variables[name];
  }
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    for (const name of names) {
      if (hasOwn(before, name)) environment[name] = before[name];
      else deleteProperty(environment, name);
    }
  };
}
