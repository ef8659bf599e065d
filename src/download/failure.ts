/**
 * Thrown if one file cannot be fetched and the others still can. The message follows the file's name, and never holds a
 * URL. `again`: another try may succeed; `restart`: only from the first byte; `host`: the file host cannot be reached or
 * keeps failing, which the next file may meet too.
 */
export class FileFailed extends Error {
  constructor(
    message: string,
    readonly kind: "final" | "again" | "restart" | "host" = "final",
    /** Milliseconds that the file host asks to wait. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}
