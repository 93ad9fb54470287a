import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSource } from '../../../src/library/sources/parse-source.ts';
import { codeOf } from '../../skills/code-of.ts';

let cwd: string;
beforeAll(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'source-')));
  for (const name of ['here/there', 'bare.git/objects', 'bare.git/refs'])
    mkdirSync(join(cwd, name), { recursive: true });
  writeFileSync(join(cwd, 'bare.git/HEAD'), 'ref: refs/heads/main\n');
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe('parseSource()', () => {
  it.each<[string, object]>([
    ['./here', { kind: 'directory', source: 'here' }],
    ['here', { kind: 'directory', source: 'here' }],
    ['./here:there', { kind: 'directory', source: 'here', folder: 'there' }],
    ['skills.tar.gz', { kind: 'archive', source: 'skills.tar.gz' }],
    ['a/b.zip:units', { kind: 'archive', source: 'a/b.zip', folder: 'units' }],
    ['./here#v1:skills/a', { kind: 'git', source: 'here', ref: 'v1', folder: 'skills/a' }],
    ['./bare.git', { kind: 'git', source: 'bare.git' }],
    ['./kept~', { kind: 'directory', source: 'kept~' }],
  ])('reads %s as a path', (text, { source, ...rest }: { source?: string }) => {
    expect(parseSource(text, cwd)).toEqual({ ...rest, source: join(cwd, source ?? '') });
  });

  it.each<[string, object]>([
    ['owner/repo', { kind: 'git', source: 'https://github.com/owner/repo' }],
    [
      'owner/repo.git#feature/x:a/b',
      { kind: 'git', source: 'https://github.com/owner/repo', ref: 'feature/x', folder: 'a/b' },
    ],
    [
      'https://git.example.com:8443/a/b.git#v1',
      { kind: 'git', source: 'https://git.example.com:8443/a/b.git', ref: 'v1' },
    ],
    ['https://git.example.com/a/b:c', { kind: 'git', source: 'https://git.example.com/a/b', folder: 'c' }],
    ['https://example.com/x/a.ZIP', { kind: 'archive', source: 'https://example.com/x/a.ZIP' }],
    ['https://example.com/a.tar.gz:b', { kind: 'archive', source: 'https://example.com/a.tar.gz', folder: 'b' }],
    ['https://example.com/a.skill', { kind: 'archive', source: 'https://example.com/a.skill' }],
    ['https://example.com', { kind: 'web', source: 'https://example.com' }],
    ['s3://bucket/u1/skills', { kind: 's3', source: 's3://bucket/u1/skills' }],
    ['s3://bucket/u@1/skills/', { kind: 's3', source: 's3://bucket/u@1/skills' }],
    ['s3://bucket', { kind: 's3', source: 's3://bucket' }],
    ['s3://bucket/u1/skills:deeds/sale', { kind: 's3', source: 's3://bucket/u1/skills', folder: 'deeds/sale' }],
    ['mcp:https://example.com/mcp', { kind: 'mcp', source: 'https://example.com/mcp' }],
  ])('reads %s as an address', (text, expected) => {
    expect(parseSource(text, cwd)).toEqual(expected);
  });

  it.each([
    ['', 'empty'],
    ['a\nb', 'control characters'],
    ['here/there', 'is ambiguous, a folder here or a repository'],
    ['npm:pkg', 'not supported'],
    ['~/skills', 'the shell replaces ~ only at the beginning of a word'],
    ['git@github.com:a/b', 'only https'],
    ['ssh://host/a', 'only https'],
    ['file:///etc', 'only https'],
    ['https://[::1', 'its host is invalid'],
    ['https://', 'its host is invalid'],
    ['http://example.com/a', 'only https'],
    ['https://me:secret@example.com/a', 'credential'],
    ['https://token@example.com', 'credential'],
    ['mcp:https://me:secret@example.com/', 'credential'],
    ['https://example.com/a?token=secret', 'query'],
    ['https://example.com/a.zip#v1', 'only a repository'],
    ['https://me:secret@example.com/a.zip', 'credential'],
    ['https://example.com/a.zip?token=secret', 'query'],
    ['http://example.com/a.zip', 'only https'],
    ['./here#--upload-pack=x', 'branch'],
    ['./here#a..b', 'branch'],
    ['./here#', 'branch'],
    ['./here:../up', 'plain path'],
    ['https://example.com#v1', 'only a repository'],
    ['s3://Bucket', 's3://bucket/prefix'],
    ['s3://key:secret@bucket/u1', 's3://bucket/prefix'],
    ['s3://bucket/u1?X-Amz-Signature=secret', 's3://bucket/prefix'],
    ['s3://bucket/u1#v2', 'only a repository'],
  ])('refuses %j', (text, reason) => {
    expect(codeOf(() => parseSource(text, cwd))).toBe('source.refused');
    expect(() => parseSource(text, cwd)).toThrow(reason);
    expect(() => parseSource(text, cwd)).not.toThrow('secret');
  });
});
