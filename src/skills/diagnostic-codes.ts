import type { Diagnostic, Severity } from '../contracts/diagnostic.ts';

/** Every code that reading, selecting and rendering skills may report. Closed: nothing else appears. */
export type DiagnosticCode =
  | 'skill.missing'
  | 'skill.encoding'
  | 'skill.too-large'
  | 'skill.file-case'
  | 'skill.link'
  | 'skill.hidden-text'
  | 'frontmatter.missing'
  | 'frontmatter.unclosed'
  | 'frontmatter.language'
  | 'frontmatter.too-large'
  | 'frontmatter.yaml'
  | 'frontmatter.not-a-mapping'
  | 'frontmatter.recovered'
  | 'skill.description-missing'
  | 'skill.description-long'
  | 'skill.name-mismatch'
  | 'skill.field-type'
  | 'skill.id-slugged'
  | 'skill.id-invalid'
  | 'skill.duplicate'
  | 'skill.shadowed'
  | 'skill.namespace-reserved'
  | 'skill.namespace-unknown'
  | 'override.unused'
  | 'root.missing'
  | 'root.untrusted'
  | 'root.depth'
  | 'root.folders'
  | 'compact.invalid'
  | 'tools.invalid'
  | 'tools.entry'
  | 'sources.invalid'
  | 'sources.entry'
  | 'sources.sid'
  | 'sources.duplicate-sid'
  | 'sources.base64'
  | 'url.not-http'
  | 'trigger.pattern'
  | 'trigger.too-many'
  | 'policy.pattern-unused'
  | 'policy.star-enabled'
  | 'import.unknown'
  | 'import.cycle'
  | 'import.denied'
  | 'import.depth'
  | 'import.limit'
  | 'skill.empty-body'
  | 'citation.unmapped'
  | 'citation.invalid'
  | 'citation.range'
  | 'descriptor.invalid'
  | 'descriptor.schema'
  | 'descriptor.root-unresolved'
  | 'descriptor.digest'
  | 'descriptor.skill-digest'
  | 'descriptor.path'
  | 'descriptor.file-missing'
  | 'descriptor.file-extra'
  | 'descriptor.file-changed'
  | 'descriptor.file-mode'
  | 'strict.bom'
  | 'strict.field-unknown'
  | 'strict.name-missing'
  | 'strict.name-long'
  | 'strict.name-case'
  | 'strict.name-hyphen'
  | 'strict.name-chars'
  | 'strict.name-folder'
  | 'strict.description-missing'
  | 'strict.description-long'
  | 'strict.compatibility'
  | 'strict.metadata';

/**
 * How serious each code is: an error was not loaded or not accepted, a warning changed or ignored something, info is
 * worth knowing.
 */
export const DIAGNOSTIC_SEVERITIES: Readonly<Record<DiagnosticCode, Severity>> = {
  'skill.missing': 'error',
  'skill.encoding': 'error',
  'skill.too-large': 'error',
  'skill.file-case': 'warning',
  'skill.link': 'warning',
  'skill.hidden-text': 'warning',
  'frontmatter.missing': 'error',
  'frontmatter.unclosed': 'error',
  'frontmatter.language': 'error',
  'frontmatter.too-large': 'error',
  'frontmatter.yaml': 'error',
  'frontmatter.not-a-mapping': 'error',
  'frontmatter.recovered': 'warning',
  'skill.description-missing': 'error',
  'skill.description-long': 'warning',
  'skill.name-mismatch': 'warning',
  'skill.field-type': 'warning',
  'skill.id-slugged': 'warning',
  'skill.id-invalid': 'error',
  'skill.duplicate': 'error',
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
  'sources.invalid': 'error',
  'sources.entry': 'warning',
  'sources.sid': 'warning',
  'sources.duplicate-sid': 'warning',
  'sources.base64': 'warning',
  'url.not-http': 'warning',
  'trigger.pattern': 'warning',
  'trigger.too-many': 'warning',
  'policy.pattern-unused': 'warning',
  'policy.star-enabled': 'warning',
  'import.unknown': 'warning',
  'import.cycle': 'warning',
  'import.denied': 'warning',
  'import.depth': 'warning',
  'import.limit': 'warning',
  'skill.empty-body': 'warning',
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
};

/** Where a finding is: `path` relative to what was read, `line` from 1. */
export interface DiagnosticPlace {
  path?: string;
  line?: number;
}

/**
 * Makes a diagnostic whose severity is that of its code.
 *
 * @param code what was found
 * @param message one line for people
 * @param place where it was found
 * @returns the diagnostic
 */
export function diagnostic(code: DiagnosticCode, message: string, place: DiagnosticPlace = {}): Diagnostic {
  return { code, severity: DIAGNOSTIC_SEVERITIES[code], message, ...place };
}
