import type { LibraryCode } from './library-severities.ts';

/** Severity of a diagnostic: `error` = not loaded or not accepted, `warning` = changed or ignored, `info` = worth knowing. */
export type Severity = 'error' | 'warning' | 'info';

/**
 * Every diagnostic code of skills and jobs, with its severity. The list is closed: another code does not compile. The texts are in
 * `diagnostic-texts/`, because the sandbox needs only the severities.
 */
export const DIAGNOSTIC_SEVERITIES = {
  'skill.missing': 'error',
  'skill.encoding': 'error',
  'skill.too-large': 'error',
  'skill.file-case': 'warning',
  'skill.file-name': 'warning',
  'skill.unreadable': 'error',
  'skill.nested': 'warning',
  'skill.link': 'warning',
  'skill.path': 'warning',
  'skill.hidden-text': 'warning',
  'frontmatter.missing': 'error',
  'frontmatter.unclosed': 'error',
  'frontmatter.language': 'error',
  'frontmatter.too-large': 'error',
  'frontmatter.yaml': 'error',
  'frontmatter.not-a-mapping': 'error',
  'frontmatter.recovered': 'warning',
  'frontmatter.comment': 'warning',
  'skill.description-missing': 'error',
  'skill.description-long': 'warning',
  'skill.name-mismatch': 'warning',
  'skill.field-type': 'warning',
  'skill.id-slugged': 'warning',
  'skill.id-invalid': 'error',
  'skill.duplicate': 'error',
  'skill.copy': 'info',
  'skill.shadowed': 'info',
  'skill.namespace-reserved': 'warning',
  'skill.namespace-unknown': 'warning',
  'override.unused': 'warning',
  'root.missing': 'error',
  'root.untrusted': 'info',
  'root.depth': 'warning',
  'root.folders': 'warning',
  'compact.invalid': 'error',
  'tools.invalid': 'error',
  'tools.entry': 'warning',
  'tools.comment': 'warning',
  'sources.invalid': 'error',
  'sources.entry': 'warning',
  'sources.sid': 'warning',
  'sources.duplicate-sid': 'warning',
  'sources.base64': 'warning',
  'sources.comment': 'warning',
  'url.not-http': 'warning',
  'trigger.pattern': 'warning',
  'trigger.too-many': 'warning',
  'skill.empty-body': 'warning',
  'policy.pattern-unused': 'warning',
  'policy.star-enabled': 'warning',
  'import.unknown': 'warning',
  'import.cycle': 'warning',
  'import.denied': 'warning',
  'import.depth': 'warning',
  'import.limit': 'warning',
  'render.escaped': 'info',
  'citation.unmapped': 'warning',
  'citation.invalid': 'warning',
  'citation.range': 'error',
  'descriptor.invalid': 'error',
  'descriptor.schema': 'error',
  'descriptor.root-unresolved': 'error',
  'descriptor.digest': 'error',
  'descriptor.skill-digest': 'error',
  'descriptor.path': 'error',
  'descriptor.file-missing': 'error',
  'descriptor.file-extra': 'error',
  'descriptor.file-changed': 'error',
  'descriptor.file-mode': 'error',
  'strict.bom': 'error',
  'strict.field-unknown': 'error',
  'strict.name-missing': 'error',
  'strict.name-long': 'error',
  'strict.name-case': 'error',
  'strict.name-hyphen': 'error',
  'strict.name-chars': 'error',
  'strict.name-folder': 'error',
  'strict.description-missing': 'error',
  'strict.description-long': 'error',
  'strict.compatibility': 'error',
  'strict.metadata': 'error',
  'limit.watched': 'warning',
  'limit.unenforced': 'warning',
  'packages.unknown': 'warning',
  'packages.scripts-skipped': 'warning',
  'output.incomplete': 'warning',
  'processes.left': 'error',
  'program.line-ends': 'warning',
  'script.requirement': 'error',
  'artifact.dropped': 'warning',
  'file.omitted': 'warning',
  'job.canceled-again': 'info',
  'decision.skill-denied': 'warning',
  'decision.tool-unknown': 'warning',
  'generation.cut-off': 'warning',
  'pool.limits-differ': 'info',
  'result.omitted': 'warning',
  'runner.passed-over': 'info',
  'sandbox.restarted': 'warning',
  'sandbox.ended': 'warning',
  'session.ended': 'info',
  'session.lost': 'warning',
  'value.invalid': 'warning',
  'variable.late': 'warning',
} as const;

/** A diagnostic code of skills and jobs. */
export type OwnCode = keyof typeof DIAGNOSTIC_SEVERITIES;

/** A code of the closed diagnostic registry. */
export type DiagnosticCode = OwnCode | LibraryCode;

/** Texts of a diagnostic code for people. */
export interface DiagnosticText {
  /** The finding, and the consequence. */
  meaning: string;
  /** One line of advice. */
  advice: string;
}
