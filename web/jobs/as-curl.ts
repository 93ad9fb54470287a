import type { ShownRequest } from './jobs.ts';

/**
 * A command that submits a job again. The service shows neither values of variables nor bytes of files: the command has empty values, and names
 * files of the working folder.
 */
export function asCurl(request: ShownRequest, origin: string): string {
  const { env, files, stdin, ...rest } = request;
  const job = {
    ...rest,
    ...(env === undefined ? {} : { env: Object.fromEntries(env.map((name) => [name, ''])) }),
    ...(stdin === null ? {} : { stdin: '' }),
  };
  const start = `curl --fail -H "Authorization: Bearer $SKILLCELL_TOKEN"`;
  const end = quoted(`${origin}/api/v1/jobs`);
  if (files.length === 0) return `${start} --json ${quoted(JSON.stringify(job))} ${end}`;
  const parts = files.map(({ destination }) => `-F ${quoted(`files/${destination}=@${quotedName(destination)}`)}`);
  return [start, `--form-string ${quoted(`job=${JSON.stringify(job)}`)}`, ...parts, end].join(' \\\n  ');
}

/** A word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A file name as curl reads it in a part of a form. */
function quotedName(name: string): string {
  return `"${name.replaceAll('\\', String.raw`\\`).replaceAll('"', String.raw`\"`)}"`;
}
