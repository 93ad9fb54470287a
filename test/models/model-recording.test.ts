import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { firstDifference } from '../../src/models/recordings/line-diff.ts';
import type { ModelAnswer, ModelGateway, ModelRequest } from '../../src/models/model-gateway.ts';
import { recordingGateway } from '../../src/models/recordings/recording-gateway.ts';
import { replayGateway } from '../../src/models/recordings/replay-gateway.ts';

const live = { signal: new AbortController().signal };
const ask = (system: string, ...contents: string[]): ModelRequest => ({
  system,
  messages: contents.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
});
const answer = (text: string): ModelAnswer => ({
  text,
  usage: { inputTokens: 5, outputTokens: null },
  model: 'openai/m',
  finishReason: 'stop',
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skillcell-recording-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Records the given requests; the answer to request `n` is `answer n`, on two lines. */
async function record(name: string, requests: ModelRequest[]): Promise<string> {
  const file = join(folder, name);
  let count = 0;
  const inner: ModelGateway = { id: 'openai/m', generate: async () => answer(`answer\n${(count += 1)}`) };
  const recording = recordingGateway(inner, file);
  for (const request of requests) await recording.generate(request, live);
  return file;
}

describe('recordingGateway()', () => {
  test('writes readable JSON: texts as lines, and nothing but prompts and answers', async () => {
    const file = await record('form.json', [ask('You are\nshort.', 'one\n\ntwo')]);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      schema: 'skillcell/model-recording@1',
      requests: [
        {
          model: 'openai/m',
          system: ['You are', 'short.'],
          messages: [{ role: 'user', content: ['one', '', 'two'] }],
          answer: { text: ['answer', '1'], usage: { inputTokens: 5, outputTokens: null }, finishReason: 'stop' },
        },
      ],
    });
    expect(await readFile(file, 'utf8')).toMatch(/\n {6}"system": \[\n {8}"You are",\n/);
  });

  test('makes the file readable only for its owner, even if it replaces a file that others could read', async () => {
    const file = join(folder, 'private.json');
    await writeFile(file, '{}', { mode: 0o644 });
    expect((await stat(file)).mode & 0o077).not.toBe(0);
    await record('private.json', [ask('a', 'b')]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('the file on disk is whole after each answer, and nothing temporary stays', async () => {
    const file = join(folder, 'growing.json');
    const held: number[] = [];
    const inner: ModelGateway = {
      id: 'x/y',
      generate: async () => {
        held.push((JSON.parse(await readFile(file, 'utf8')) as { requests: unknown[] }).requests.length);
        return answer('a');
      },
    };
    const recording = recordingGateway(inner, file);
    for (const system of ['a', 'b', 'c']) await recording.generate(ask(system, 'u'), live);
    expect(held).toEqual([0, 1, 2]);
    expect((await readdir(folder)).filter((name) => name.startsWith('growing'))).toEqual(['growing.json']);
  });

  test('answers that arrive together are all written', async () => {
    const file = join(folder, 'together.json');
    const recording = recordingGateway({ id: 'x/y', generate: async () => answer('a') }, file);
    await Promise.all(Array.from({ length: 20 }, (_, index) => recording.generate(ask(`${index}`, 'u'), live)));
    expect((JSON.parse(await readFile(file, 'utf8')) as { requests: unknown[] }).requests).toHaveLength(20);
  });

  test.each<[string, object]>([
    ['no usage', { usage: undefined }],
    ['an empty usage', { usage: {} }],
    ['invalid counts', { usage: { inputTokens: 1.5, outputTokens: -1 } }],
    ['more counts, no model and no reason', { usage: { total: 3 }, model: undefined, finishReason: undefined }],
  ])('an answer with %s is recorded as it is used, and can be read again', async (name, fields) => {
    const file = join(folder, `${name}.json`);
    const inner = { id: 'openai/m', generate: async () => ({ ...answer('a'), ...fields }) } as ModelGateway;
    const request = ask('s', 'u');
    const used = await recordingGateway(inner, file).generate(request, live);
    expect(used.usage).toEqual({ inputTokens: null, outputTokens: null });
    expect(await replayGateway(file).generate(request, live)).toEqual(used);
  });

  test('an answer without a text is not recorded', async () => {
    const file = join(folder, 'textless.json');
    const inner = { id: 'openai/m', generate: async () => ({}) } as unknown as ModelGateway;
    await expect(recordingGateway(inner, file).generate(ask('s', 'u'), live)).rejects.toMatchObject({
      code: 'model.failed',
    });
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ requests: [] });
  });

  test('reports an unwritable file before the model is asked', async () => {
    const generate = vi.fn(async () => answer('a'));
    const recording = recordingGateway({ id: 'x/y', generate }, join(folder, 'missing', 'file.json'));
    await expect(recording.generate(ask('s', 'u'), live)).rejects.toMatchObject({ code: 'usage.invalid' });
    expect(generate).not.toHaveBeenCalled();
  });
});

describe('replayGateway()', () => {
  test('answers the recorded prompts with the recorded answers, in order', async () => {
    const requests = [ask('s', 'u'), ask('s', 'u', 'answer\n1', 'more')];
    const replay = replayGateway(await record('order.json', requests));
    expect(await replay.generate(requests[0] as ModelRequest, live)).toEqual(answer('answer\n1'));
    expect((await replay.generate(requests[1] as ModelRequest, live)).text).toBe('answer\n2');
  });

  test('a prompt that differs fails with a unified diff of the first difference', async () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    const replay = replayGateway(await record('differs.json', [ask(lines.join('\n'), 'task')]));
    const changed = ask(lines.with(10, 'other').with(25, 'later').join('\n'), 'task');
    const error = await replay.generate(changed, live).then(String, (reason: Error & { code: string }) => reason);
    expect(error).toMatchObject({ code: 'model.replay-mismatch' });
    expect((error as Error).message).toContain(
      ['@@ -12,1 +12,1 @@', ' line 8', ' line 9', '-line 10', '+other', ' line 11', ' line 12'].join('\n'),
    );
    expect((error as Error).message).not.toContain('later');
  });

  test.each<[string, ModelRequest]>([
    ['an extra blank', ask('s ', 'u')],
    ['another role', { system: 's', messages: [{ role: 'assistant', content: 'u' }] }],
    ['an extra message', ask('s', 'u', 'a')],
    ['text moved from the system prompt to the message', ask('', 's\nu')],
    ['a heading inside of a text', ask('s\n== user\nu\n== user', '')],
  ])('%s is a difference', async (_name, request) => {
    const replay = replayGateway(await record('small.json', [ask('s', 'u')]));
    await expect(replay.generate(request, live)).rejects.toMatchObject({ code: 'model.replay-mismatch' });
  });

  test('a text that reads like the heading of a message is not taken for one', async () => {
    const replay = replayGateway(await record('heading.json', [ask('s', 'u', 'a')]));
    await expect(replay.generate(ask('s', 'u\n== assistant\na'), live)).rejects.toMatchObject({
      code: 'model.replay-mismatch',
    });
  });

  test('a request beyond the recorded ones fails', async () => {
    const replay = replayGateway(await record('one.json', [ask('s', 'u')]));
    await replay.generate(ask('s', 'u'), live);
    await expect(replay.generate(ask('s', 'u'), live)).rejects.toMatchObject({
      code: 'model.replay-mismatch',
      message: expect.stringMatching(/holds 1 requests, and the job makes request 2/) as string,
    });
  });

  test('a file that is missing, a folder or a fifo is refused at once', () => {
    const fifo = join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    for (const path of [join(folder, 'nothing.json'), folder, fifo]) {
      expect(() => replayGateway(path)).toThrow(expect.objectContaining({ code: 'file.unreadable' }));
    }
  });

  test.each([
    ['no JSON', 'hello'],
    ['another schema', '{"schema":"skillcell/model-recording@2","requests":[]}'],
    [
      'a text that is not a list of lines',
      '{"schema":"skillcell/model-recording@1","requests":[{"model":"m","system":"s"}]}',
    ],
  ])('a file that is %s is refused at once', async (_name, text) => {
    const file = join(folder, 'bad.json');
    await writeFile(file, text);
    expect(() => replayGateway(file)).toThrow(expect.objectContaining({ code: 'usage.invalid' }));
  });
});

describe('firstDifference()', () => {
  test('is empty for equal texts', () => {
    expect(firstDifference(['a', 'b'], ['a', 'b'])).toBe('');
    expect(firstDifference([], [])).toBe('');
  });

  test('shows lines that are only on one side', () => {
    expect(firstDifference(['a', 'b'], ['a', 'x', 'y', 'b'])).toBe('@@ -2,0 +2,2 @@\n a\n+x\n+y\n b');
    expect(firstDifference(['a', 'b'], ['a'])).toBe('@@ -2,1 +2,0 @@\n a\n-b');
  });

  test('stays short for texts of any difference', () => {
    const many = (mark: string): string[] => Array.from({ length: 5_000 }, (_, index) => `${mark}${index}`.repeat(100));
    const difference = firstDifference(many('a'), many('b'));
    expect(difference.split('\n').length).toBeLessThan(40);
    expect(difference.length).toBeLessThan(8_000);
    expect(difference).toContain('-… 4988 more lines');
  });
});
