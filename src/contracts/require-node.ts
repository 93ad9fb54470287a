import { SkillcellError } from './errors/skillcell-error.ts';

const OLDEST = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST) {
  const message = `Cannot import skillcell: Node ${OLDEST} or newer is needed, got ${process.versions.node}.`;
  throw new SkillcellError('runtime.node-too-old', message);
}
