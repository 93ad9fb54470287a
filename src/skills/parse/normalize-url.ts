import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';

const TRACKING = /^(?:utm_[^=]*|gclid|fbclid)(?:=|$)/;

/** A URL in the form of the pool, which also identifies rows of the same page. */
export interface NormalizedUrl {
  url: string;
  /** `url.not-http`, if it is no valid http or https URL. */
  diagnostics: Diagnostic[];
}

/**
 * Normalizes the URL of a source by the WHATWG parser. Scheme and host become lower case. Default port, fragment, tracking
 * parameters and one trailing slash of a non-root path are removed. The rest of the query keeps its bytes. A text that is
 * no http or https URL stays as it is.
 *
 * @param url as it was written
 * @returns the normalized URL, or the trimmed text with a warning
 */
export function normalizeUrl(url: string): NormalizedUrl {
  const text = url.trim();
  const parsed = URL.parse(text);
  if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    return {
      url: text,
      diagnostics: [diagnostic('url.not-http', `No valid http or https URL: ${JSON.stringify(text.slice(0, 200))}.`)],
    };
  }
  const query = parsed.search
    .slice(1)
    .split('&')
    .filter((part) => !TRACKING.test(part))
    .join('&');
  const rootPath = parsed.pathname === '/';
  parsed.hash = '';
  parsed.search = '';
  const page = !rootPath && parsed.href.endsWith('/') ? parsed.href.slice(0, -1) : parsed.href;
  return { url: query === '' ? page : `${page}?${query}`, diagnostics: [] };
}
