import { oneLine } from '../skills/text/text.ts';
import type { ImportGraph, ImportState } from './import-graph.ts';

const NOTES: Readonly<Record<ImportState, string>> = {
  followed: '',
  cycle: ' (cycle: dropped)',
  unknown: ' (unknown: dropped)',
  denied: ' (denied: dropped)',
};

/** The graph as lines of text: each skill with its imports below it. */
export function graphText({ skills, imports, cycles }: ImportGraph): string {
  const lines = skills.flatMap((id) => [
    id,
    ...imports.filter(({ from }) => from === id).map(({ to, state }) => `  → ${oneLine(to)}${NOTES[state]}`),
  ]);
  const circles = cycles.map((ids) => `cycle: ${[...ids, ids[0]].join(' → ')}`);
  return [...lines, ...circles].map((line) => `${line}\n`).join('');
}

const STYLES: Readonly<Record<ImportState, string>> = {
  followed: '',
  cycle: ' [style=dashed, color=red, label="cycle"]',
  unknown: ' [style=dotted, label="unknown"]',
  denied: ' [style=dotted, color=red, label="denied"]',
};

/** The graph in the language of Graphviz. */
export function graphDot({ skills, imports }: ImportGraph): string {
  const lines = [
    ...skills.map((id) => `  ${quoted(id)};`),
    ...imports.map(({ from, to, state }) => `  ${quoted(from)} -> ${quoted(to)}${STYLES[state]};`),
  ];
  return `digraph skills {\n${lines.map((line) => `${line}\n`).join('')}}\n`;
}

function quoted(id: string): string {
  return `"${oneLine(id).replaceAll(/["\\]/g, '\\$&')}"`;
}
