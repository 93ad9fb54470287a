export { seededRandom, type SeededRandom } from '../../src/evals/seeded-random.ts';
