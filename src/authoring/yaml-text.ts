/** Plain texts that every reader of YAML reads as texts. */
const PLAIN = /^[A-Za-z](?:[\w./-]|[ ,()](?![ #]))*$/;
/** Plain texts that some reader takes for another type. */
const WORDS = /^(?:true|false|yes|no|on|off|null|y|n)$/i;

/** A text as a value of YAML on one line, with quotes if it needs them. */
export function yamlText(text: string): string {
  return PLAIN.test(text) && !WORDS.test(text) && !/[ ,(]$/.test(text) ? text : JSON.stringify(text);
}
