/**
 * Why a download failed:
 * - permanent:   retrying cannot help
 * - missing:     the library no longer has the file
 * - retryable:   another attempt may succeed
 * - restart:     another attempt may succeed, from the first byte
 * - unavailable: the file host cannot be reached or is failing, which probably affects the next file as well
 */
export type DownloadFailureKind = "permanent" | "missing" | "retryable" | "restart" | "unavailable";

/** Thrown if one file cannot be downloaded, but others can. The message is printed after the path. It never contains a URL. */
export class DownloadFailure extends Error {
  constructor(
    message: string,
    readonly kind: DownloadFailureKind = "permanent",
    /** Milliseconds that the file host asks to wait before the next attempt. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}
