import { buffer } from 'node:stream/consumers';
import { afterAll, expect } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { buildImage } from '../../../src/sandboxes/docker/build/build-image.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { findImage } from '../../../src/sandboxes/docker/build/image.ts';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { dockerImage, dockerTest } from '../../fixtures/docker-image.ts';

/** About half a minute the first time: the packages come from Debian's mirror. */
const BUILD_MS = 10 * 60_000;

let orchestrator: Orchestrator | undefined;
afterAll(async () => await orchestrator?.close());

async function dataImage(): Promise<{ id: string; lines: string[] }> {
  const { engine, bundle } = await dockerImage();
  const lines: string[] = [];
  const id = await buildImage(engine, { flavor: 'data', bundle, onProgress: (line) => lines.push(line) });
  return { id, lines };
}

async function openData(): Promise<Orchestrator> {
  const { engine, bundle } = await dockerImage();
  await findImage(engine, 'data', bundle.digest).catch(async (error: unknown) => {
    if (!SkillcellError.isInstance(error)) throw error;
    await dataImage();
  });
  return (orchestrator ??= createOrchestrator({ runners: [createDockerRunner({ flavor: 'data', bundle })] }));
}

dockerTest(
  'the data image builds, and a second build reuses every layer of the first',
  { timeout: BUILD_MS },
  async () => {
    const { engine } = await dockerImage();
    const first = await dataImage();
    const second = await dataImage();
    expect(second.id).toBe(first.id);
    expect(second.lines.filter((line) => line.includes('Running in'))).toEqual([]);
    const { RootFS, Config } = await engine.getImage(second.id).inspect();
    expect(RootFS.Layers).toEqual((await engine.getImage(first.id).inspect()).RootFS.Layers);
    expect(Config.Labels).toMatchObject({ 'skillcell.flavor': 'data' });
  },
);

const ANALYSIS = `
import matplotlib.pyplot as plt
import numpy as np
import openpyxl
import pandas as pd
from jinja2 import Template
from PIL import Image, ImageDraw, ImageFont

sales = pd.DataFrame({'region': ['north', 'south', 'north', 'east'], 'units': [1.5, 2.0, 3.5, 4.0]})
total = sales.groupby('region')['units'].sum().sort_index()
axes = total.plot.bar(title='Umsätze je Region, €')
axes.figure.tight_layout()
axes.figure.savefig('out/sales.png', dpi=100)
axes.figure.savefig('out/sales.svg')
total.to_frame().to_excel('out/sales.xlsx', sheet_name='Regions')
book = openpyxl.load_workbook('out/sales.xlsx')
page = Template('<ul>{% for row in rows %}<li>{{ row }}</li>{% endfor %}</ul>').render(rows=list(total.index))
with open('out/report.html', 'w') as file:
    file.write(page)
picture = Image.open('out/sales.png').convert('RGB').resize((64, 48))
ImageDraw.Draw(picture).text((2, 2), 'sum', font=ImageFont.truetype('DejaVuSans.ttf', 12))
picture.save('out/small.jpg')
inverse = np.linalg.inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
import skillcell
skillcell.set_value({'total': total.to_dict(), 'cell': book['Regions']['B2'].value, 'inverse': inverse.tolist(), 'size': list(picture.size)})
`;

dockerTest(
  'an ordinary analysis runs in the data image, and leaves only its files',
  { timeout: BUILD_MS },
  async () => {
    const data = await openData();
    const result = await data.exec({
      jobId: 'analysis',
      runner: 'docker',
      isolation: 'container',
      language: 'python',
      code: ANALYSIS,
    });
    expect(result, result.stderr.text).toMatchObject({
      outcome: 'succeeded',
      isolation: 'container',
      stderr: { text: '' },
      omitted: [],
      value: {
        total: { east: 4, north: 5, south: 2 },
        cell: 4,
        inverse: [
          [0.5, 0],
          [0, 0.25],
        ],
        size: [64, 48],
      },
    });
    expect(result.artifacts.map(({ path }) => path)).toEqual([
      'report.html',
      'sales.png',
      'sales.svg',
      'sales.xlsx',
      'small.jpg',
    ]);
    const bytesOf = async (path: string): Promise<Buffer> => await buffer(data.artifact('analysis', path));
    expect((await bytesOf('report.html')).toString()).toBe('<ul><li>east</li><li>north</li><li>south</li></ul>');
    expect((await bytesOf('sales.png')).subarray(1, 4).toString()).toBe('PNG');
    expect((await bytesOf('sales.svg')).toString()).toMatch(/^<\?xml[\s\S]*<\/svg>\s*$/);
    expect((await bytesOf('sales.xlsx')).subarray(0, 2).toString()).toBe('PK');
    expect((await bytesOf('small.jpg')).subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
  },
);

const OWN_LIST = `import importlib.metadata as metadata
found = {d.metadata["Name"].lower(): f'{d.metadata["Name"]} {d.version}' for d in metadata.distributions()}
print(", ".join(found[name] for name in sorted(found)))`;

dockerTest(
  'a prompt always names the same packages, which programs can import from its image',
  { timeout: BUILD_MS },
  async () => {
    const job = { runner: 'docker', isolation: 'container', language: 'python' } as const;
    const promptOf = async (orchestrator: Orchestrator): Promise<string> =>
      (await orchestrator.codegen({ ...job, dryRun: true, task: 'Add.' })).stdout.text;
    const data = await openData();
    const prompt = await promptOf(data);
    const listed = /^- Modules: .*, no other: (.*)\.$/m.exec(prompt)?.[1] ?? '';
    for (const name of ['Jinja2', 'matplotlib', 'numpy', 'openpyxl', 'pandas', 'Pillow']) {
      expect(listed).toMatch(new RegExp(`(^|, )${name} \\d[\\w.]*(,|$)`));
    }
    const { stdout } = await data.exec({ ...job, code: OWN_LIST });
    expect(`${listed}\n`).toBe(stdout.text);
    expect(await promptOf(data)).toBe(prompt);

    const { bundle } = await dockerImage();
    await using slim = createOrchestrator({ runners: [createDockerRunner({ bundle })] });
    expect(await promptOf(slim)).toContain('Count on no other package: no numpy');
  },
);

dockerTest(
  'the slim image lacks these packages, so the tests above used the data image',
  { timeout: BUILD_MS },
  async () => {
    const { bundle } = await dockerImage();
    await using slim = createOrchestrator({ runners: [createDockerRunner({ bundle })] });
    const result = await slim.exec({ runner: 'docker', isolation: 'container', language: 'python', code: ANALYSIS });
    expect(result).toMatchObject({ outcome: 'failed', error: { name: 'ModuleNotFoundError' } });
  },
);
