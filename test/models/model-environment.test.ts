import { describe, expect, test } from 'vitest';
import { readModelSettings } from '../../src/models/gateways/model-environment.ts';

const OWN = {
  SKILLCELL_MODEL: 'openai-compatible/org/model-1',
  SKILLCELL_MODEL_BASE_URL: 'http://127.0.0.1:8080/v1/',
  SKILLCELL_MODEL_API_KEY: 'own-key',
};

describe('readModelSettings()', () => {
  test('names no model without a flag and a variable, even if keys are set', () => {
    expect(readModelSettings(undefined, { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' })).toBeUndefined();
    expect(readModelSettings(undefined, { SKILLCELL_MODEL: '' })).toBeUndefined();
  });

  test('prefers our own variables', () => {
    const environment = { ...OWN, OPENAI_API_KEY: 'other', OPENAI_BASE_URL: 'https://example.org/v1' };
    expect(readModelSettings(undefined, environment)).toEqual({
      provider: 'openai-compatible',
      model: 'org/model-1',
      baseUrl: 'http://127.0.0.1:8080/v1',
      apiKey: 'own-key',
    });
  });

  test('prefers a flag to SKILLCELL_MODEL', () => {
    expect(readModelSettings('anthropic/claude-x', OWN)).toMatchObject({ provider: 'anthropic', model: 'claude-x' });
  });

  test("falls back on the provider's own variables and addresses", () => {
    expect(readModelSettings('openai/m', { OPENAI_API_KEY: 'k' })).toMatchObject({
      baseUrl: 'https://api.openai.com/v1',
      apiKey: 'k',
    });
    expect(
      readModelSettings('openai-compatible/m', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://example.org/v1' }),
    ).toMatchObject({ baseUrl: 'https://example.org/v1', apiKey: 'k' });
    expect(readModelSettings('anthropic/m', { ANTHROPIC_API_KEY: 'k' })).toMatchObject({
      baseUrl: 'https://api.anthropic.com/v1',
      apiKey: 'k',
    });
  });

  test("never sends a provider's own key to the address in SKILLCELL_MODEL_BASE_URL", () => {
    const environment = { SKILLCELL_MODEL_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_API_KEY: 'k' };
    expect(readModelSettings('openai-compatible/m', environment)).not.toHaveProperty('apiKey');
    expect(readModelSettings('openai/m', environment)).not.toHaveProperty('apiKey');
  });

  test.each(['gpt-x', '/m', 'openai/', 'unknown/m', 'constructor/m', 'openai/a b', 'openai/ä', ' openai/m'])(
    'refuses the name %j',
    (name) => {
      expect(() => readModelSettings(name, OWN)).toThrow(
        expect.objectContaining({ code: 'usage.invalid', message: expect.stringContaining('--model') }),
      );
    },
  );

  test.each([
    'ftp://example.org',
    'example.org',
    'http://user:canary-pass@example.org/v1',
    'http://canary-token@example.org/v1',
  ])('refuses the address %j and does not repeat it', (address) => {
    const environment = { ...OWN, SKILLCELL_MODEL_BASE_URL: address };
    const read = (): unknown => readModelSettings(undefined, environment);
    expect(read).toThrow(expect.objectContaining({ code: 'usage.invalid' }));
    expect(read).not.toThrow(address);
  });

  test('refuses a key that no header can carry, and does not repeat it', () => {
    const read = (): unknown => readModelSettings(undefined, { ...OWN, SKILLCELL_MODEL_API_KEY: 'canary\nkey' });
    expect(read).toThrow(/SKILLCELL_MODEL_API_KEY/);
    expect(read).not.toThrow(/canary/);
  });

  test.each([
    ['openai-compatible/m', {}, /SKILLCELL_MODEL_BASE_URL/],
    ['openai/m', {}, /OPENAI_API_KEY/],
    ['anthropic/m', {}, /ANTHROPIC_API_KEY/],
    [
      'anthropic/m',
      { SKILLCELL_MODEL_BASE_URL: 'http://127.0.0.1:1/v1' },
      /no key is set in SKILLCELL_MODEL_API_KEY\.$/,
    ],
  ])('refuses %s without its address or key', (name, environment, message) => {
    expect(() => readModelSettings(name, environment)).toThrow(
      expect.objectContaining({ code: 'model.not-configured', message: expect.stringMatching(message) }),
    );
  });
});
