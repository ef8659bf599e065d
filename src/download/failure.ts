/**
 * Thrown when one file cannot be fetched, and the others still can. The message is what comes after its name, and
 * never holds a URL.
 */
export class FileFailed extends Error {
  /** Whether it was the file host that could not be reached or kept failing: the next file may fare no better. */
  readonly hostDown: boolean;

  constructor(message: string, options: { hostDown?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "FileFailed";
    this.hostDown = options.hostDown ?? false;
  }
}
