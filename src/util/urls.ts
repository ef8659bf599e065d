/** The parameters of an API request. Undefined parameters are omitted. */
export type QueryParameters = Record<string, string | number | undefined>;

/** True for 127.0.0.0/8, ::1 and localhost. @param hostname the `hostname` of a URL */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
