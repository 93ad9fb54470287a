import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ELSEWHERE_CASES, LATER_CASES } from './later.ts';

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));

/** Calls of the engine's client by which a container's files, or a program beside the entry, reach the host or come from it. */
const NEVER = /(\b(putArchive|getArchive|infoArchive|demuxStream|createVolume|createNetwork)\b|\.(exec|commit)\(\{)/;

test('D04 D17 no source calls the archive API, exec, or the client’s demultiplexer', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.startsWith('sandboxes/docker/') && name.endsWith('.ts'),
  );
  expect(files.length).toBeGreaterThan(8);
  for (const name of files) {
    const code = readFileSync(`${SOURCES}/${name}`, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    expect(code, name).not.toMatch(NEVER);
  }
  // The pattern finds the calls.
  for (const call of ['container.putArchive(x)', 'modem.demuxStream(a)', 'container.exec({ Cmd })'])
    expect(call).toMatch(NEVER);
});

test('the tests of the other cases exist', () => {
  for (const [id, path] of Object.entries(ELSEWHERE_CASES)) expect(existsSync(`${SOURCES}/../${path}`), id).toBe(true);
  expect(Object.keys(LATER_CASES).filter((id) => id in ELSEWHERE_CASES)).toEqual([]);
});
