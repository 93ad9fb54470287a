/** Plain texts that every reader of YAML takes for texts. */
const PLAIN = /^[A-Za-z](?:[\w./-]|[ ,()](?![ #]))*$/;
/** Plain ones that some reader takes for something else. */
const WORDS = /^(?:true|false|yes|no|on|off|null|y|n)$/i;

/** A text as a value of YAML on one line, in quotes where it needs them. */
export function yamlText(text: string): string {
  return PLAIN.test(text) && !WORDS.test(text) && !/[ ,(]$/.test(text) ? text : JSON.stringify(text);
}
