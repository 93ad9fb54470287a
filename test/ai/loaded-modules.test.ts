import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

/** Packages that a program loads, and the source files beside them. */
async function loadedBy(program: string): Promise<{ packages: string[]; files: string[] }> {
  const code = `import { registerHooks } from 'node:module';
const urls = [];
registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
${program}
console.log(JSON.stringify(urls));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    cwd: process.cwd(),
  });
  const urls = JSON.parse(stdout) as string[];
  const packages = urls.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
  return { packages: [...new Set(packages)], files: urls.flatMap((url) => /\/(src\/.*)$/.exec(url)?.[1] ?? []) };
}

describe('the AI SDK', () => {
  it('is not loaded by the library, nor are the modules for it', async () => {
    const { packages, files } = await loadedBy("await import('./src/index.ts');");
    expect(files).toContain('src/jobs/create-orchestrator.ts');
    expect(packages.filter((name) => name === 'ai' || name.startsWith('@ai-sdk/'))).toEqual([]);
    expect(files.filter((file) => file.startsWith('src/ai/'))).toEqual([]);
  });

  it('is not loaded by the tools and sandboxes for it', async () => {
    const { packages, files } = await loadedBy(`const { createOrchestrator } = await import('./src/index.ts');
const { createSandboxTools } = await import('./src/ai/index.ts');
const orchestrator = createOrchestrator();
const { run_code } = createSandboxTools(orchestrator);
await run_code.execute({ code: '' }, { toolCallId: 'a', messages: [] }).catch(() => undefined);
await orchestrator.close();`);
    expect(files).toContain('src/ai/create-sandbox-tools.ts');
    expect(packages.filter((name) => name === 'ai' || name.startsWith('@ai-sdk/'))).toEqual([]);
  });
});
