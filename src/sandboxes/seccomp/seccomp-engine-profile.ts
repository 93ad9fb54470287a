import { ARGUMENT_RULES, UNIMPLEMENTED_CALLS, type ArgumentRule, type ArgumentTest } from './argument-rules.ts';
import { SECCOMP_GROUPS } from './seccomp-groups.ts';
import { blocksOfOtherValues } from './blocks-of-other-values.ts';

/** A test of an argument, in the engine's words: `(argument & value) == valueTwo`. */
export interface EngineArgumentTest {
  index: number;
  value: number;
  valueTwo: number;
  op: 'SCMP_CMP_MASKED_EQ';
}

/** A rule of an engine's profile. Rules for the same name are alternatives; the tests of one rule must all hold. */
export interface EngineSystemCallRule {
  names: string[];
  action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO';
  errnoRet?: number;
  args?: EngineArgumentTest[];
}

/** A seccomp profile as container engines read it from `--security-opt seccomp=`. */
export interface EngineSeccompProfile {
  defaultAction: 'SCMP_ACT_ERRNO';
  defaultErrnoRet: number;
  archMap: { architecture: string; subArchitectures: string[] }[];
  syscalls: EngineSystemCallRule[];
}

const EPERM = 1;
const ENOSYS = 38;

function alternativesOfRule(rule: ArgumentRule): readonly (readonly ArgumentTest[])[] {
  if ('allowWhen' in rule) return rule.allowWhen;
  const { index, values } = rule.refuseValues;
  return blocksOfOtherValues(values).map(({ mask, value }) => [{ index, mask, value }]);
}

function engineTest({ index, mask, value }: ArgumentTest): EngineArgumentTest {
  return { index, value: mask, valueTwo: value, op: 'SCMP_CMP_MASKED_EQ' };
}

/**
 * The same filter as `seccompBpf`, as the profile that Docker and other OCI engines take, for both architectures. Engines
 * answer ENOSYS for calls newer than a profile by themselves, and end the caller on another architecture's interface,
 * because no architecture has a sub-architecture here. It says nothing of why: an engine reads all of it for each container.
 *
 * @returns a new object, ready for `JSON.stringify`
 */
export function seccompEngineProfile(): EngineSeccompProfile {
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: EPERM,
    archMap: [
      { architecture: 'SCMP_ARCH_X86_64', subArchitectures: [] },
      { architecture: 'SCMP_ARCH_AARCH64', subArchitectures: [] },
    ],
    syscalls: [
      { names: SECCOMP_GROUPS.flatMap(({ names }) => names), action: 'SCMP_ACT_ALLOW' },
      ...ARGUMENT_RULES.flatMap((rule) =>
        alternativesOfRule(rule).map((tests): EngineSystemCallRule => ({
          names: [...rule.names],
          action: 'SCMP_ACT_ALLOW',
          args: tests.map(engineTest),
        })),
      ),
      { names: [...UNIMPLEMENTED_CALLS], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    ],
  };
}
