import { execFile } from 'node:child_process';
import { readFile } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type LocalHost, startLocalHost } from './local-host.ts';

/** Starts a host with the private repository `team/plans.git`, for the user `office` with this token. */
export async function startGitHost(token: string): Promise<LocalHost> {
  const folder = await mkdtemp(join(tmpdir(), 'git-host-'));
  await makeRepository(join(folder, 'team/plans.git'));
  const expected = `Basic ${Buffer.from(`office:${token}`).toString('base64')}`;
  // Git reads a repository from plain files, without a program at the host.
  const answer: RequestListener = ({ url = '/', headers }, response) => {
    if (headers.authorization !== expected)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="plans"' }).end();
    const { pathname } = new URL(url, 'https://git.example.com');
    readFile(join(folder, pathname), (error, file) => {
      response.writeHead(error === null ? 200 : 404).end(file);
    });
  };
  const host = await startLocalHost('git.example.com', answer);
  return {
    ...host,
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Makes a repository with one file. The folder is the repository itself, as at a host. */
async function makeRepository(folder: string): Promise<void> {
  const work = join(folder, 'work');
  await mkdir(work, { recursive: true });
  await writeFile(join(work, 'plan.txt'), 'Ship on Friday.\n');
  // A user's own settings could sign the commit.
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' };
  const git = async (...args: string[]): Promise<void> => {
    await promisify(execFile)('git', ['--git-dir', folder, '--work-tree', work, ...args], { cwd: work, env });
  };
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', 'plan.txt');
  await git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '--quiet', '--message=Add the plan');
  await git('update-server-info');
}
