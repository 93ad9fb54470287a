import { describe, expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import { requireLevel } from '../../fixtures/levels.ts';
import { programAnswer, scriptedModel } from '../../fixtures/scripted-model.ts';
import { startUpstream } from '../../fixtures/egress/upstream.ts';

const ask = (url: string, more = ''): string =>
  programAnswer(
    'javascript',
    `const { status } = await fetch('${url}');\nif (status !== 200) throw new Error('no');${more}`,
  );

describe('a codegen job with a network', () => {
  it('repairs a denied program, whose denials are in the next message', async (context) => {
    requireLevel(context, 'namespace');
    await using upstream = await startUpstream();
    const place = `api.test:${upstream.port}`;
    const model = scriptedModel([
      ask(`https://nope.test/a?token=1`),
      ask(`https://${place}/v2`),
      ask(`https://${place}/v1`),
    ]);
    await using orchestrator = createOrchestrator({
      runners: [createLocalRunner()],
      model,
      network: {
        ...upstream.network([`GET ${place}/v1`]),
        secrets: { TOKEN: { value: 'sk-0123456789abcdef', hosts: [place] } },
      },
    });
    const result = await orchestrator.codegen({ task: 'Ask.', network: [place], secrets: ['TOKEN'] });
    expect(result.outcome).toBe('succeeded');
    expect(result.network).toMatchObject({ requests: 1, denied: [{ host: 'nope.test' }, { path: '/v2' }] });
    const [first, second, third] = model.asked;
    expect(first?.system).toContain(
      `- The network is open to these places alone, over HTTP and HTTPS: \`GET https://${place}/v1\`.\n` +
        `- The environment variable \`TOKEN\` holds a placeholder: send it in the header \`authorization\` to \`https://${place}\`; the host puts the value in.\n`,
    );
    expect(first?.system).not.toContain('There is no network');
    const said = (messages: typeof first): string => messages?.messages.at(-1)?.content ?? '';
    const denials = (text: string): unknown =>
      /----- begin network \w+ -----\n([^]*?)----- end network/.exec(text)?.[1];
    expect(denials(said(first))).toBeUndefined();
    expect(denials(said(second))).toBe('denied 1 × GET https://nope.test/a (host-not-allowed)\n');
    expect(denials(said(third))).toBe(`denied 1 × GET https://${place}/v2 (path-not-allowed)\n`);
    expect(JSON.stringify(model.asked)).not.toContain('sk-0123456789abcdef');
  });

  it('tells the denials of a program that ends well without its outputs', async (context) => {
    requireLevel(context, 'namespace');
    const model = scriptedModel([
      programAnswer('javascript', "await fetch('https://nope.test/');"),
      programAnswer(
        'javascript',
        "import { writeFileSync } from 'node:fs';\nwriteFileSync(process.env.SKILLCELL_OUTPUT + '/a', '');",
      ),
    ]);
    await using orchestrator = createOrchestrator({
      runners: [createLocalRunner()],
      model,
      network: { allow: ['api.test'] },
    });
    const { outcome } = await orchestrator.codegen({ task: 'Ask.', network: ['api.test'], expect: ['a'] });
    expect(outcome).toBe('succeeded');
    expect(model.asked[1]?.messages.at(-1)?.content).toContain('denied 1 × GET https://nope.test/ (host-not-allowed)');
  });

  it('tells a decision about the network', async (context) => {
    requireLevel(context, 'namespace');
    const decision = '```skillcell-decision\n{ "action": "text", "text": "Done." }\n```';
    const model = scriptedModel([decision, decision]);
    await using orchestrator = createOrchestrator({
      runners: [createLocalRunner()],
      model,
      network: { allow: ['api.test'] },
    });
    await orchestrator.codegen({ task: 'Say.', select: true, network: ['api.test'] });
    await orchestrator.codegen({ task: 'Say.', select: true });
    const [told, plain] = model.asked.map(({ system }) => system);
    expect(told).toContain(
      'with the input files and a network that is open to these places alone: `https://api.test`.',
    );
    expect(told).not.toContain('without a network');
    expect(plain).toContain('in an isolated sandbox, with the input files and without a network.\n');
  });
});
