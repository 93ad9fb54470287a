import { DESCRIPTOR_SCHEMA, type FullDescriptor } from '../../src/contracts/skills/descriptor.ts';
import type { SkillTree } from '../../src/contracts/skills/skill.ts';
import { catalogDigest, descriptorDigest, digestOf, skillDigest } from '../../src/skills/text/digest.ts';

/** The portable descriptor of one sample skill, in place of a job's skills. */
export function sampleDescriptor(id: string, tree: SkillTree): FullDescriptor {
  const files = [...tree].map(([path, { bytes, executable }]) => ({
    path,
    digest: digestOf(bytes),
    bytes: bytes.length,
    executable,
  }));
  const content: FullDescriptor = {
    schema: DESCRIPTOR_SCHEMA,
    custom_skills_root: null,
    bundle_root: null,
    agents_config: {},
    overrides: [],
    skills: { [id]: { version: null, digest: skillDigest(files), files } },
    catalog: { consumer: null, ids: [id], digest: catalogDigest(null, [id]) },
  };
  return { ...content, digest: descriptorDigest(content) };
}
