/** Prefix of the addresses of this server's own resources. */
export const RESOURCES = 'skillcell://';

/** Prefix of the addresses of a job's resources. */
export function jobUri(jobId: string): string {
  return `${RESOURCES}jobs/${jobId}`;
}

/** Prefix of the addresses of the resources of one run of a session. */
export function runUri(sessionId: string, run: number): string {
  return `${RESOURCES}sessions/${sessionId}/runs/${run}`;
}

/** The address of an artifact. */
export function artifactUri(jobId: string, path: string): string {
  return `${jobUri(jobId)}/artifacts/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** The artifact that an address names. */
export function artifactOf(uri: string): { jobId: string; path: string } | undefined {
  const [, jobId, encoded] = /^skillcell:\/\/jobs\/([^/]+)\/artifacts\/(.+)$/.exec(uri) ?? [];
  if (jobId === undefined || encoded === undefined) return undefined;
  try {
    return { jobId, path: encoded.split('/').map(decodeURIComponent).join('/') };
  } catch {
    // No address from this server has an incomplete escape.
    return undefined;
  }
}
