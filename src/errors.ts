/**
 * The errors that users see. Each class has an exit code. The message is a sentence, and the hint is the next step.
 * An error for an HTTP status is named after the status (RFC 9110).
 */

export const exitCodes = {
  done: 0,
  defect: 1,
  usage: 2,
  configuration: 3,
  unauthorized: 4,
  forbidden: 5,
  unavailable: 6,
  unexpectedResponse: 7,
  incomplete: 8,
  busy: 9,
  stale: 10,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A failure can end the work on one resource, all further requests (an outage), or the entire command. */
export type FailureScope = "resource" | "outage" | "command";

export interface ErrorOptions {
  hint?: string | undefined;
  cause?: unknown;
  /** The HTTP status of the response, or undefined if there was no response. */
  status?: number | undefined;
  /** By default, a failure ends the work on one resource, and work on the other resources continues. */
  failureScope?: FailureScope | undefined;
}

/** The base class of errors that users see. An instance of the base class itself represents a bug in the program. */
export class BrandapiError extends Error {
  readonly exitCode: ExitCode = exitCodes.defect;
  /** A stable name, printed by `--json` as `{"error":{"code",…}}`. */
  readonly code: string = "defect";
  readonly hint: string | undefined;
  readonly status: number | undefined;
  readonly failureScope: FailureScope;

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.hint = options.hint;
    this.status = options.status;
    this.failureScope = options.failureScope ?? "resource";
  }
}

/** Thrown for an unknown flag, command, resource, table or value. */
export class UsageError extends BrandapiError {
  override readonly exitCode = exitCodes.usage;
  override readonly code = "usage";
  override readonly failureScope = "command";
}

/** Thrown when settings are missing or unsafe, or a local file cannot be used. */
export class ConfigurationError extends BrandapiError {
  override readonly exitCode = exitCodes.configuration;
  override readonly code: string = "configuration";
}

/** Thrown when the mirror is damaged, belongs to another brand, was written by a newer version, or is not a mirror. */
export class MirrorUnusable extends ConfigurationError {
  override readonly code = "mirror";
  override readonly failureScope = "command";
}

/** Thrown on 401: the API rejected the key. See "Authentication" in the API documentation. */
export class Unauthorized extends BrandapiError {
  override readonly exitCode = exitCodes.unauthorized;
  override readonly code = "unauthorized";
  override readonly failureScope = "command";
}

/** Thrown on 403: the key lacks the scope, or this machine's IP address is not on the key's allowlist. */
export class Forbidden extends BrandapiError {
  override readonly exitCode = exitCodes.forbidden;
  override readonly code: string = "forbidden";
}

/** Thrown on 402: the brand's plan does not include the data. */
export class PaymentRequired extends Forbidden {
  override readonly code = "plan";
}

/** Returns `error` or its cause, whichever is a `Forbidden` error. Returns null if neither is. */
export function findForbidden(error: unknown): Forbidden | null {
  if (error instanceof Forbidden) return error;
  return error instanceof BrandapiError && error.cause instanceof Forbidden ? error.cause : null;
}

/** Thrown when the API has been unreachable, or has responded with 429 or 5xx, for longer than `--max-wait`. */
export class ApiUnavailable extends BrandapiError {
  override readonly exitCode = exitCodes.unavailable;
  override readonly code = "unavailable";
}

/** Thrown when a response contradicts the API documentation. */
export class UnexpectedResponse extends BrandapiError {
  override readonly exitCode = exitCodes.unexpectedResponse;
  override readonly code: string = "unexpected-response";
}

/** Thrown when a response must not be stored, because it is too large, has too many items, or contains the key. */
export class UnsafeResponse extends UnexpectedResponse {}

/** Thrown on 400: the API rejected the request's parameters. */
export class BadRequest extends UnexpectedResponse {
  override readonly code = "bad-request";
}

/** Thrown on 404 and 410: the URL or the record does not exist. */
export class NotFound extends UnexpectedResponse {
  override readonly code = "not-found";
}

export class Incomplete extends BrandapiError {
  override readonly exitCode = exitCodes.incomplete;
  override readonly code: string = "incomplete";
}

export class MirrorBusy extends BrandapiError {
  override readonly exitCode = exitCodes.busy;
  override readonly code = "busy";
}

/**
 * Thrown by `status --max-age` if data is too old or has a gap, or if the API denied access to it during the last sync.
 */
export class MirrorStale extends BrandapiError {
  override readonly exitCode = exitCodes.stale;
  override readonly code = "stale";
}

/** The signals that stop the program, with their exit codes. */
export const stopCodes = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hungUp,
} as const;

export class Stopped extends BrandapiError {
  override readonly exitCode: ExitCode;
  override readonly code = "stopped";
  override readonly failureScope = "command";

  constructor(
    readonly signalName: keyof typeof stopCodes,
    hint?: string,
  ) {
    super("Stopped.", { hint });
    this.exitCode = stopCodes[signalName];
  }
}

export function failureScope(error: unknown): FailureScope {
  // An error that is not a BrandapiError is a bug, and ends the entire command.
  return error instanceof BrandapiError ? error.failureScope : "command";
}
