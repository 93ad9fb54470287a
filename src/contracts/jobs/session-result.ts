/** One result that a run showed, in one or several forms. */
export interface SessionResult {
  /** Forms by media type: a text, JSON for `application/json` and its kin as text, or bytes. In JSON bytes are base64. */
  data: Record<string, string | Uint8Array>;
}
