/** What the addresses of this server's own resources begin with. */
export const RESOURCES = 'skillcell://';

/** Where a job's resources stand. */
export function jobUri(jobId: string): string {
  return `${RESOURCES}jobs/${jobId}`;
}

/** Where those of one run of a session stand. */
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
    // Half an escape: no address of ours has that.
    return undefined;
  }
}
