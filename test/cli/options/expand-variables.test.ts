import { expect, it } from 'vitest';
import { expandVariables } from '../../../src/cli/options/flags/expand-variables.ts';

const ENVIRONMENT = { KEY: 'value', EMPTY: '' };

function expanded(text: string): unknown {
  return (expandVariables({ server: { command: text } }, ENVIRONMENT) as { server: { command: string } }).server
    .command;
}

it.each([
  ['${KEY} and ${KEY:-other}', 'value and value'],
  ['${EMPTY:-other}, ${NONE:-}', 'other, '],
  ['$KEY, ${1}, ${KEY, ${KEY:x}', '$KEY, ${1}, ${KEY, ${KEY:x}'],
  ['${KEY ${KEY}', '${KEY value'],
  ['${KEY:-a ${KEY} b', 'value b'],
  ['${KEY} ${NONE:-a ${', 'value ${NONE:-a ${'],
])('expandVariables() makes of %s', (text, made) => {
  expect(expanded(text)).toBe(made);
});

it('expandVariables() names the variable that is not set', () => {
  expect(() => expanded('${KEY}${NONE}')).toThrow('command needs a variable that is not set, got NONE.');
});

it('expandVariables() quickly handles a text of many unclosed beginnings', () => {
  const text = '${A:-'.repeat(200_000);
  expect(expanded(text)).toBe(text);
});
