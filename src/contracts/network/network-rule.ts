/**
 * A place that a job may reach. As a text: `[METHOD,METHOD ]HOST[:PORT][/PATH]`, such as `api.example.com`, `GET,HEAD *.example.com/v1/**` or
 * `http://build.example:8080`.
 */
export interface NetworkRule {
  /** A name, `*.example.com` for all names below it at any depth, or an address, which matches only as itself. */
  host: string;
  /** @default 443; 80 for `http` */
  port?: number;
  /** @default 'https' */
  scheme?: 'https' | 'http';
  /** Allowed methods in capitals. CONNECT and TRACE are never allowed. @default all others */
  methods?: string[];
  /** Allowed paths without query. `*` stands for one segment, `**` for any number. @default all */
  paths?: string[];
}
