import { expect, it } from 'vitest';
import { BudgetReachedError, createModelBudget } from '../../src/models/model-budget.ts';
import type { ModelRequest } from '../../src/models/model-gateway.ts';

const ask = (text: string): ModelRequest => ({ system: '', messages: [{ role: 'user', content: text }] });
const answer = (text: string, inputTokens: number | null, outputTokens: number | null) => ({
  text,
  usage: { inputTokens, outputTokens },
  model: 'test/model',
  finishReason: 'stop',
});

it('has no limit without numbers, and changes no request', () => {
  const budget = createModelBudget();
  const request = ask('x'.repeat(1_000_000));
  for (let round = 0; round < 100; round += 1) {
    expect(budget.admit(request)).toBe(request);
    budget.spend(request, answer('y', 1e9, 1e9));
  }
  expect(budget.reached).toBeUndefined();
});

it('counts requests, also those that were never answered', () => {
  const budget = createModelBudget({ modelCalls: 2 });
  budget.admit(ask('a'));
  budget.admit(ask('b'));
  expect(budget.reached).toBeUndefined();
  expect(() => budget.admit(ask('c'))).toThrow(BudgetReachedError);
  expect(budget.reached?.limit).toBe('model-calls');
});

it('refuses a request that exceeds the rest, and admits a shorter one', () => {
  const budget = createModelBudget({ inputTokens: 10 });
  const first = budget.admit(ask('x'.repeat(16)));
  budget.spend(first, answer('y', 7, 1));
  expect(() => budget.admit(ask('x'.repeat(16)))).toThrow('about 4');
  expect(budget.reached?.limit).toBe('tokens');
  budget.admit(ask('x'.repeat(12)));
  expect(() => budget.admit(ask('x'))).toThrow(BudgetReachedError);
});

it('limits answers to the rest', () => {
  const budget = createModelBudget({ outputTokens: 10 });
  const first = budget.admit(ask('a'));
  expect(first.maxOutputTokens).toBe(10);
  budget.spend(first, answer('y', null, 8));
  expect(budget.admit({ ...ask('a'), maxOutputTokens: 1 }).maxOutputTokens).toBe(1);
  const second = budget.admit({ ...ask('a'), maxOutputTokens: 5 });
  expect(second.maxOutputTokens).toBe(2);
  budget.spend(second, answer('y', null, 3));
  expect(() => budget.admit(ask('a'))).toThrow(BudgetReachedError);
  expect(budget.reached?.limit).toBe('tokens');
});

it('sets no length that a model may not support', () => {
  const budget = createModelBudget({ outputTokens: 5_000 });
  const request = budget.admit(ask('a'));
  expect(request.maxOutputTokens).toBeUndefined();
  budget.spend(request, answer('y', 1, 904));
  expect(budget.admit(ask('a')).maxOutputTokens).toBe(4_096);
});

it('counts one token for four bytes of UTF-8 if a service reports no usage', () => {
  const budget = createModelBudget({ inputTokens: 2, outputTokens: 3 });
  const request = budget.admit(ask('éé'));
  budget.spend(request, answer('é'.repeat(4), null, null));
  expect(budget.admit(ask('éé')).maxOutputTokens).toBe(1);
  expect(() => budget.admit(ask('a'))).toThrow(BudgetReachedError);
});

it('refuses a request once its answers have used every token', () => {
  const budget = createModelBudget({ outputTokens: 10 });
  budget.spend(budget.admit(ask('a')), answer('y', null, 10));
  expect(() => budget.admit(ask('a'))).toThrow('may be answered with 10 tokens');
});
