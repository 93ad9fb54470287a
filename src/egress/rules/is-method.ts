/** All registered methods have this form, and a server that does not look at the case cannot read another method into it. */
const METHOD = /^[A-Z][A-Z0-9_-]{0,31}$/;
/** CONNECT opens a tunnel inside the tunnel; TRACE sends the headers back, with the credentials in them. */
const FORBIDDEN: ReadonlySet<string> = new Set(['CONNECT', 'TRACE']);

/** Whether rules can allow a method. Methods are case-sensitive: `get` is not GET. */
export function isMethod(method: string): boolean {
  return METHOD.test(method) && !FORBIDDEN.has(method);
}
