/** The flags that every command takes: contract, section 3. */
export interface GlobalOptions {
  profile?: string;
  db?: string;
  baseUrl?: string;
  keyFile?: string;
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  /** false with `--no-color`. */
  color?: boolean;
  /** false with `--no-progress`. */
  progress?: boolean;
  rateLimit?: number | "none";
  maxWait?: number;
}
