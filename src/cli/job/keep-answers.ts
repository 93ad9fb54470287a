import { existsSync } from 'node:fs';
import { join, parse } from 'node:path';
import type { ModelGateway } from '../../models/model-gateway.ts';
import { type Language, programFileName } from '../../contracts/jobs/language.ts';
import type { JobResult } from '../../contracts/jobs/result.ts';
import { findLanguage } from '../../languages/languages.ts';
import { writeBeneath } from '../../durable/write-beneath.ts';
import { writeFailed } from '../../durable/write-failed.ts';

/** A text of a model, and the file that holds it. */
export interface KeptText {
  text: string;
  path: string;
}

/** Texts of a model for one job, kept beside its artifacts. */
export interface KeptAnswers {
  /** Saves an answer. */
  add(text: string): Promise<void>;
  /** A gateway that answers like the given one, and saves each answer before it is used. */
  gateway(inner: ModelGateway): ModelGateway;
  /** The answers so far. */
  readonly answers: readonly KeptText[];
  /** Saves the program of each attempt that has one, and saves again the answers that an artifact has overwritten. */
  finish(result: JobResult, language: Language): Promise<KeptText[]>;
}

/**
 * Keeps paid-for answers: each is on the disk when it arrives, so that neither a later fault of the service nor an
 * interruption loses it.
 *
 * @param folder where the job's artifacts go; made with the first answer
 * @throws SkillcellError `artifact.write-failed` from `add`, `generate` and `finish`
 */
export function keepAnswers(folder: string): KeptAnswers {
  const answers: KeptText[] = [];
  const keep = async (name: string, text: string): Promise<KeptText> => {
    const file = freeName(folder, name);
    const path = join(folder, file);
    try {
      await writeBeneath(folder, file, Buffer.from(text));
    } catch (cause) {
      throw writeFailed('keep the text of the model', path, cause);
    }
    return { text, path };
  };
  const add = async (text: string): Promise<void> => {
    answers.push(await keep(`answer-${answers.length + 1}.md`, text));
  };
  return {
    answers,
    add,
    gateway: (inner) => ({
      id: inner.id,
      async generate(request, options) {
        const answer = await inner.generate(request, options);
        await add(answer.text);
        return answer;
      },
    }),
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

/** The name, or the first of `name.2`, `name.3` … that is free: an existing file may be an artifact, or belong to another job. */
function freeName(folder: string, name: string): string {
  const { name: base, ext } = parse(name);
  let free = name;
  for (let number = 2; existsSync(join(folder, free)); number += 1) free = `${base}.${number}${ext}`;
  return free;
}
