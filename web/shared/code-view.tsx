import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { type ReactElement, type ReactNode, useMemo } from 'react';

for (const [name, language] of Object.entries({ bash, javascript, json, markdown, python, typescript, yaml }))
  hljs.registerLanguage(name, language);

/** Longer texts stay plain: the colours would take longer than a reader waits. */
const MOST_CHARACTERS = 100_000;

/** Languages by the ending of a file. */
const BY_ENDING: Readonly<Record<string, string>> = {
  ...{ js: 'javascript', mjs: 'javascript', cjs: 'javascript', ts: 'typescript', mts: 'typescript' },
  ...{ py: 'python', sh: 'bash', json: 'json', md: 'markdown', yaml: 'yaml', yml: 'yaml' },
};

/** A part of highlighted code, as highlight.js emits it. */
type Emitted = string | { scope?: string; children: Emitted[] };

/** The language of a file; undefined for others than these. */
export function languageOf(path: string): string | undefined {
  return BY_ENDING[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];
}

/** Code in colours. It becomes text nodes, so that nothing in it is markup. */
export function CodeView(props: { code: string; language?: string | undefined; label: string }): ReactElement {
  const { code, language = '', label } = props;
  const content = useMemo(() => coloured(code, language), [code, language]);
  return (
    // Keys scroll the code, and it has a name for readers of the screen.
    <pre className="code" tabIndex={0} role="region" aria-label={label}>
      <code>{content}</code>
    </pre>
  );
}

function coloured(code: string, language: string): ReactNode {
  if (code.length > MOST_CHARACTERS || hljs.getLanguage(language) === undefined) return code;
  const { _emitter } = hljs.highlight(code, { language, ignoreIllegals: true }) as unknown as {
    _emitter: { root: { children: Emitted[] } };
  };
  return nodesOf(_emitter.root.children);
}

function nodesOf(parts: readonly Emitted[]): ReactNode[] {
  return parts.map((part, index) =>
    typeof part === 'string' ? (
      part
    ) : (
      // The parts of one text never change their order.
      // oxlint-disable-next-line react/no-array-index-key
      <span key={index} className={part.scope === undefined ? undefined : `hljs-${part.scope.replaceAll('.', ' ')}`}>
        {nodesOf(part.children)}
      </span>
    ),
  );
}
