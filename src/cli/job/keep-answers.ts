import { existsSync } from 'node:fs';
import { join, parse } from 'node:path';
import type { ModelGateway } from '../../models/model-gateway.ts';
import { type Language, programFileName } from '../../contracts/jobs/language.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import { findLanguage } from '../../languages/languages.ts';
import { writeBeneath } from '../../durable/write-beneath.ts';
import { writeFailed } from '../../durable/write-failed.ts';

/** Something that a model wrote, and the file that holds it. */
export interface KeptText {
  text: string;
  path: string;
}

/** What a model wrote for one job, kept beside its artifacts. */
export interface KeptAnswers {
  /** Answers like the gateway inside, and writes each answer down before anything is done with it. */
  readonly gateway: ModelGateway;
  /** The answers so far. */
  readonly answers: readonly KeptText[];
  /** Writes the programs down, one an attempt that had one, and once more what an artifact has taken the place of. */
  finish(result: JobResult, language: Language): Promise<KeptText[]>;
}

/**
 * Keeps what is paid for: an answer is on the disk when it arrives, so that neither a service that fails afterwards nor an
 * interruption loses it.
 *
 * @param folder where the job's artifacts go; made with the first answer
 * @throws SkillcellError `artifact.write-failed` from `generate` and `finish`
 */
export function keepAnswers(inner: ModelGateway, folder: string): KeptAnswers {
  const answers: KeptText[] = [];
  const keep = async (name: string, text: string): Promise<KeptText> => {
    const file = freeName(folder, name);
    const path = join(folder, file);
    try {
      await writeBeneath(folder, file, Buffer.from(text));
    } catch (cause) {
      throw writeFailed('keep what the model wrote', path, cause);
    }
    return { text, path };
  };
  return {
    answers,
    gateway: {
      id: inner.id,
      async generate(request, options) {
        const answer = await inner.generate(request, options);
        answers.push(await keep(`answer-${answers.length + 1}.md`, answer.text));
        return answer;
      },
    },
    async finish({ artifacts, codegen }, language) {
      const taken = new Set(artifacts.map(({ path }) => join(folder, path)));
      for (const [index, { path, text }] of answers.entries()) {
        if (taken.has(path)) answers[index] = await keep(parse(path).base, text);
      }
      const definition = findLanguage(language);
      const programs: KeptText[] = [];
      for (const [index, { code }] of (codegen?.attempts ?? []).entries()) {
        if (code === '') continue;
        const name = `program-${index + 1}`;
        programs.push(await keep(definition === undefined ? name : programFileName(definition, name), code));
      }
      return programs;
    },
  };
}

/** The name, or the first of `name.2`, `name.3` … that no file has: what is there may be an artifact, or of another job. */
function freeName(folder: string, name: string): string {
  const { name: base, ext } = parse(name);
  let free = name;
  for (let number = 2; existsSync(join(folder, free)); number += 1) free = `${base}.${number}${ext}`;
  return free;
}
