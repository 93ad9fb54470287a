/** Address of the engine. */
export interface EngineOptions {
  /**
   * `unix:///path`, `tcp://host:port`, `http://host:port` or `https://host:port`. Default: `DOCKER_HOST`, else the engine of the active Docker
   * context, else the local socket.
   */
  host?: string;
}
