/**
 * Lists the plain English forms of a verb: as it is, -s, -es, -ed, -ing; silent e; consonant and y; doubled last
 * consonant.
 *
 * @param verb folded verb
 * @returns its forms; some are no words and do no harm
 */
export function verbForms(verb: string): string[] {
  const forms = [verb, `${verb}s`, `${verb}es`, `${verb}ed`, `${verb}ing`];
  const stem = verb.slice(0, -1);
  const last = verb.slice(-1);
  if (last === 'e') forms.push(`${verb}d`, `${stem}ing`);
  if (/[b-df-hj-np-tv-z]y$/.test(verb)) forms.push(`${stem}ies`, `${stem}ied`);
  if (/[b-df-hj-np-tv-z]$/.test(verb)) forms.push(`${verb}${last}ed`, `${verb}${last}ing`);
  return forms;
}
