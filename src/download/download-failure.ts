/**
 * The reasons why a download can fail.
 * - permanent: a retry cannot help
 * - missing: the library no longer has the file
 * - retryable: a retry may succeed
 * - restart: a retry may succeed if it starts over from the first byte
 * - unavailable: the file host is unreachable or failing, which probably affects the next file as well
 */
export type DownloadFailureKind = "permanent" | "missing" | "retryable" | "restart" | "unavailable";

/** Thrown if a file cannot be downloaded. The message is printed after the file's path, and never contains a URL. */
export class DownloadFailure extends Error {
  constructor(
    message: string,
    readonly kind: DownloadFailureKind = "permanent",
    /** The wait requested by the file host, in milliseconds. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}
