import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ModelAnswer, ModelGateway } from '../../../src/models/model-gateway.ts';
import { claimFolder } from '../../../src/cli/job/claim-folder.ts';

const request = { system: 's', messages: [] };
const live = { signal: new AbortController().signal };
let folder: string;
let asked: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claim-'));
  asked = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

const model: ModelGateway = {
  id: 'test/model',
  async generate() {
    asked += 1;
    return { text: 'a' } as ModelAnswer;
  },
};

describe('claimFolder()', () => {
  it('gives a folder to one of two evaluations, and makes nothing before the first request', async () => {
    const out = join(folder, 'a/out');
    const gateways = [claimFolder(model, out), claimFolder(model, out)];
    expect(readdirSync(folder)).toEqual([]);
    const came = await Promise.allSettled(gateways.map((gateway) => gateway.generate(request, live)));
    expect(came.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(came.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'usage.invalid' } });
    expect([asked, readdirSync(out)]).toEqual([1, ['runs']]);
    const first = gateways[came.findIndex(({ status }) => status === 'fulfilled')];
    expect(await first?.generate(request, live)).toEqual({ text: 'a' });
  });

  it('sends no request if the folder cannot be made', async () => {
    mkdirSync(join(folder, 'a'));
    writeFileSync(join(folder, 'a/out'), '');
    await expect(claimFolder(model, join(folder, 'a/out/b')).generate(request, live)).rejects.toMatchObject({
      code: 'artifact.write-failed',
    });
    expect(asked).toBe(0);
  });
});
