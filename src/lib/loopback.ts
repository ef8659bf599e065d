import { isIP } from "node:net";

/** 127.0.0.0/8, ::1 and localhost: what never leaves this machine. `hostname` as a URL spells it. */
export function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname === "[::1]") return true;
  return isIP(hostname) === 4 && hostname.startsWith("127.");
}
