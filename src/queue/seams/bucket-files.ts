import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { S3Access } from '../../library/stores/s3/s3-access.ts';
import { eachAtOnce } from '../../protocol/each-at-once.ts';
import { diskFault } from './disk-fault.ts';
import { folderFiles } from './folder-files.ts';
import { isLogName } from './folder-log.ts';
import type { ExpectedInput, FiledJob, JobFiles } from './job-files.ts';
import { createTurns } from './turns.ts';

/** Requests for one job at a time. */
const AT_ONCE = 4;
/** Inputs that are so old have a row, or never get one. */
const STRAY_MS = 3_600_000;
/** What else is in the bucket belongs to others, and is never removed. */
const JOB_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ARTIFACTS = 'artifacts/';

/** A prefix of a bucket, and the replica that keeps files there. */
export interface BucketPlace {
  access: Pick<S3Access, 'upload' | 'download' | 'list' | 'remove'>;
  /** Ends with a slash, or is empty. */
  prefix: string;
  /** Id of this replica: the files of its own jobs are here. */
  owner: string;
}

/**
 * The files of jobs that several hosts share. A job runs on files in a folder of one host. Its inputs are in the bucket before its row, and its
 * output, logs and artifacts before its end, below `<id>/<attempt>-<owner>/`: another process may end a
 * lost attempt, and late files of the first process are no part of that end. Another host copies whole files into its own folder before it
 * shows them, so that slow readers hold no connection of the bucket.
 */
export function bucketFiles(folder: string, { access, prefix, owner }: BucketPlace): JobFiles {
  const local = folderFiles(folder);
  const inTurn = createTurns();
  const keyOf = (id: string, name: string): string => `${prefix}${id}/${name}`;
  /** The folder of an end in the bucket. */
  const folderOf = ({ id, attempt, owner: of }: Pick<FiledJob, 'id' | 'attempt' | 'owner'>): string =>
    `${id}/${attempt}-${of}`;
  const keyOfEnd = (job: Pick<FiledJob, 'id' | 'attempt' | 'owner'>, name: string): string =>
    // Paths of artifacts may be longer than keys may be.
    keyOf(folderOf(job), name.startsWith(ARTIFACTS) ? `${ARTIFACTS}${digestOf(name)}` : name);
  const isHere = async (id: string, name: string): Promise<boolean> =>
    (await local.size({ id } as FiledJob, name)) !== undefined;

  /** Copies an object to this host, if it is not here; false without the object, or if it is not the right one. */
  const bring = (
    id: string,
    name: string,
    key: string,
    isRight?: (copy: string) => Promise<boolean>,
  ): Promise<boolean> =>
    inTurn(`${id}/${name}`, async () => {
      if (await isHere(id, name)) return true;
      const path = local.path(id, name);
      const part = join(folder, id, `part-${digestOf(name)}`);
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        const isKept = (await access.download(key, part)) && ((await isRight?.(part)) ?? true);
        if (isKept) await rename(part, path);
        else await rm(part, { force: true });
        return isKept;
      } catch (error) {
        await rm(part, { force: true });
        throw diskFault(error);
      }
    });
  /** The keys below a path, the time of the newest one, and the time of the answer by the same clock. */
  const listed = async (path: string): Promise<{ keys: string[]; newest: number; at: number }> => {
    const keys: string[] = [];
    let [newest, at] = [0, 0];
    let token: string | undefined;
    do {
      const page = await access.list({ prefix: `${prefix}${path}/`, token });
      keys.push(...page.objects.map(({ key }) => key));
      newest = Math.max(newest, ...page.objects.map(({ changedAt }) => changedAt));
      [token, at] = [page.next, page.at];
    } while (token !== undefined);
    return { keys, newest, at };
  };
  const removeKeys = async (keys: readonly string[]): Promise<void> => {
    await eachAtOnce(keys, AT_ONCE, (key) => access.remove(key));
  };

  return {
    path: local.path,
    read: local.read,
    isReady: local.isReady,
    async create(id, inputs) {
      await local.create(id, inputs);
      const names = inputs.map((_, number) => `in/${number}`);
      await eachAtOnce(names, AT_ONCE, (name) => access.upload(keyOf(id, name), local.path(id, name)));
    },
    async take(id, inputs) {
      await mkdir(join(folder, id, 'in'), { recursive: true, mode: 0o700 }).catch((error: unknown) => {
        throw diskFault(error);
      });
      for (const [number, input] of inputs.entries()) {
        const name = `in/${number}`;
        if (!(await bring(id, name, keyOf(id, name), (copy) => isAsExpected(copy, input))))
          throw new SkillcellError('file.unreadable', `Cannot run the job: its input ${number} is gone or changed.`);
      }
    },
    async size(job, name) {
      if (job.owner !== owner && job.state === 'finished') await bring(job.id, name, keyOfEnd(job, name));
      return await local.size(job, name);
    },
    async publish(attempt, names) {
      // A job that found no room on the disk has no folder.
      const all = await readdir(local.path(attempt.id, '')).catch(() => []);
      const logs = all.filter(isLogName);
      await eachAtOnce([...names, ...logs], AT_ONCE, (name) =>
        access.upload(keyOfEnd({ ...attempt, owner }, name), local.path(attempt.id, name)),
      );
    },
    async bringLogs(job) {
      if (job.owner === owner) return;
      const below = keyOfEnd(job, '');
      const { keys } = await listed(folderOf(job));
      const logs = keys.map((key) => key.slice(below.length)).filter(isLogName);
      await eachAtOnce(logs, AT_ONCE, (name) => bring(job.id, name, `${below}${name}`));
    },
    leave: local.remove,
    async remove(id) {
      // If the bucket does not answer, a later sweep removes the objects.
      await local.remove(id);
      await removeKeys((await listed(id)).keys);
    },
    async removeStray(id) {
      const { keys, newest, at } = await listed(id);
      if (keys.length > 0 && at - newest <= STRAY_MS) return;
      await local.remove(id);
      await removeKeys(keys);
    },
    async ids() {
      const ids = new Set(await local.ids());
      let token: string | undefined;
      do {
        const page = await access.list({ prefix, token, folders: true });
        for (const each of page.prefixes) ids.add(each.slice(prefix.length, -1));
        token = page.next;
      } while (token !== undefined);
      return [...ids].filter((id) => JOB_ID.test(id));
    },
  };
}

function digestOf(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}

/** Whether a copy is the file that was stored. It gets the mode of an input. */
async function isAsExpected(path: string, { bytes, sha256, executable }: ExpectedInput): Promise<boolean> {
  if ((await lstat(path)).size !== bytes) return false;
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  await chmod(path, executable ? 0o700 : 0o600);
  return hash.digest('hex') === sha256;
}
