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

/** What was typed after a flag, as `--db FILE` or `--db=FILE`, for those who cannot wait for the words to be parsed. */
export function valueAfter(argv: readonly string[], flag: string): string | undefined {
  const end = argv.indexOf("--");
  const flags = end < 0 ? argv : argv.slice(0, end);
  const at = flags.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`));
  const word = flags[at];
  return word === flag ? flags[at + 1] : word?.slice(flag.length + 1);
}
