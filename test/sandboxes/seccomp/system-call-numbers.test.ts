import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { systemCallNumbers } from '../../../src/sandboxes/seccomp/system-call-numbers.ts';

const X64_HEADERS = ['/usr/include/x86_64-linux-gnu/asm/unistd_64.h', '/usr/include/asm/unistd_64.h'];
const GENERIC_HEADER = '/usr/include/asm-generic/unistd.h';

/** Calls of the generic header that arm64 lacks. */
const NOT_ON_ARM64 = new Set(['syscalls', 'arch_specific_syscall', 'sync_file_range2']);

function readDefinitions(path: string): Map<string, string> {
  const definitions = readFileSync(path, 'utf8').matchAll(/^#define __NR_(\w+)\s+(\w+)/gm);
  return new Map(Array.from(definitions, ([, name = '', value = '']) => [name, value]));
}

const x64Header = X64_HEADERS.find((path) => existsSync(path));

test('the numbers of x86_64 match the kernel headers', ({ skip }) => {
  skip(x64Header === undefined, 'this machine lacks the kernel headers of x86_64');
  const numbers = systemCallNumbers('x64');
  const definitions = readDefinitions(x64Header ?? '');
  expect(definitions.size).toBeGreaterThan(300);
  for (const [name, value] of definitions) expect([name, numbers.get(name)]).toEqual([name, Number(value)]);
});

test('the numbers of arm64 match the generic kernel header', ({ skip }) => {
  skip(!existsSync(GENERIC_HEADER), 'this machine lacks the generic kernel header');
  const numbers = systemCallNumbers('arm64');
  const definitions = readDefinitions(GENERIC_HEADER);
  const wide = readFileSync(GENERIC_HEADER, 'utf8').matchAll(/^#define __NR3264_(\w+) (\d+)/gm);
  const wideNumbers = new Map(Array.from(wide, ([, name = '', value = '']) => [name, value]));
  const resolved = Array.from(definitions, ([name, value]): [string, string] => [
    name,
    /^\d+$/.test(value) ? value : (wideNumbers.get(value.replace('__NR3264_', '')) ?? ''),
  ]);
  const checked = resolved.filter(([name, value]) => value !== '' && !NOT_ON_ARM64.has(name) && !isCallOf32Bits(name));
  expect(checked.length).toBeGreaterThan(300);
  for (const [name, value] of checked) expect([name, numbers.get(name)]).toEqual([name, Number(value)]);
});

function isCallOf32Bits(name: string): boolean {
  return /(_time64|gettime64|settime64|adjtime64|64_64|^(fcntl|statfs|fstatfs|truncate|ftruncate|sendfile|fstatat|fstat|stat|lstat)64|llseek|mmap2)$/.test(
    name,
  );
}

test('the numbers of each architecture are distinct, and equal for calls since Linux 5.1', () => {
  const x64 = systemCallNumbers('x64');
  const arm64 = systemCallNumbers('arm64');
  for (const numbers of [x64, arm64]) expect(new Set(numbers.values()).size).toBe(numbers.size);
  const newer = [...x64].filter(([, number]) => number >= 424);
  expect(newer.map(([, number]) => number)).toEqual(Array.from({ length: newer.length }, (_, index) => 424 + index));
  expect([...arm64].filter(([, number]) => number >= 424)).toEqual(newer);
});
