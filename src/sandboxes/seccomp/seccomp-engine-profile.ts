import { ARGUMENT_RULES, UNIMPLEMENTED_CALLS, type ArgumentRule, type ArgumentTest } from './argument-rules.ts';
import { SECCOMP_GROUPS } from './seccomp-groups.ts';
import { blocksOfOtherValues } from './blocks-of-other-values.ts';

/** A test of an argument in the engine's form: `(argument & value) == valueTwo`. */
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

/** A seccomp profile in the form that container engines read from `--security-opt seccomp=`. */
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
 * The same filter as `seccompBpf`, as a profile for Docker and other OCI engines, for both architectures. Engines return ENOSYS for
 * calls newer than a profile on their own. They kill a caller through another architecture's interface, because no architecture here
 * has a sub-architecture. The profile has no reasons: an engine reads all of it for each container.
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
