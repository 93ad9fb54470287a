import type { ScanFinding } from './scan-finding.ts';
import type { SarifPlaces } from './sarif-places.ts';
import { SCAN_RULES, type ScanCode, type ScanSeverity } from './scan-rules.ts';
import type { Unscanned } from './scan-tree.ts';

const LEVELS: Readonly<Record<ScanSeverity, 'error' | 'warning' | 'note'>> = {
  high: 'error',
  medium: 'warning',
  low: 'note',
};
const CODES = Object.keys(SCAN_RULES) as ScanCode[];

/**
 * A log of SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/) without its results. Editors and code hosts show such logs.
 *
 * @param version of this package
 * @param unscanned entries that were not scanned, with the paths to show; they become notifications
 * @param places where files lie
 */
export function sarifLog(version: string, unscanned: readonly Unscanned[], places: SarifPlaces): object {
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'skillcell',
            version,
            informationUri: 'https://www.npmjs.com/package/skillcell',
            rules: CODES.map((code) => ({
              id: code,
              shortDescription: { text: sentence(SCAN_RULES[code].meaning) },
              help: { text: SCAN_RULES[code].advice },
              defaultConfiguration: { level: LEVELS[SCAN_RULES[code].severity] },
            })),
          },
        },
        originalUriBaseIds: places.bases,
        columnKind: 'unicodeCodePoints',
        results: [],
        invocations: [
          {
            executionSuccessful: true,
            toolExecutionNotifications: unscanned.map(({ path, bytes, reason }) => ({
              level: 'note',
              message: { text: `Not looked at: ${bytes} bytes, ${reason}.` },
              locations: [{ physicalLocation: { artifactLocation: places.placeOf(path) } }],
            })),
          },
        ],
      },
    ],
  };
}

/** A finding as a result of the log. */
export function sarifResult({ code, severity, message, path, line, column }: ScanFinding, places: SarifPlaces): object {
  const region = line === undefined || column === undefined ? {} : { region: { startLine: line, startColumn: column } };
  return {
    ruleId: code,
    ruleIndex: CODES.indexOf(code),
    level: LEVELS[severity],
    message: { text: message },
    locations: [{ physicalLocation: { artifactLocation: places.placeOf(path), ...region } }],
  };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
