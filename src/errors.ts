/**
 * Every error that a person can meet, with its exit code and its hint.
 * A class is named for the failure; the message is one sentence, the hint is what to do.
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

export interface ErrorOptions {
  hint?: string | undefined;
  cause?: unknown;
  /** The HTTP status of the API's answer, if there was one. */
  status?: number | undefined;
  /** True if every other request would fail the same way. */
  everywhere?: boolean | undefined;
}

/** The parent of all: what happened, to what, what to do, and the exit code. */
export class BrandapiError extends Error {
  readonly exitCode: ExitCode = exitCodes.defect;
  /** The stable name in `--json`: `{"error":{"code",…}}`. */
  readonly code: string = "defect";
  readonly hint: string | undefined;
  readonly status: number | undefined;
  readonly everywhere: boolean;

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.hint = options.hint;
    this.status = options.status;
    this.everywhere = options.everywhere ?? false;
  }
}

/** Thrown for an unknown flag, command, resource, table or value. */
export class UsageError extends BrandapiError {
  override readonly exitCode = exitCodes.usage;
  override readonly code = "usage";
}

/** Thrown when settings are missing or unsafe, or a local file cannot be used as asked. */
export class ConfigurationError extends BrandapiError {
  override readonly exitCode = exitCodes.configuration;
  override readonly code: string = "configuration";
}

/** Thrown when the mirror file is damaged, not a mirror, newer than this program, or another brand's. */
export class MirrorUnusable extends ConfigurationError {
  override readonly code = "mirror";
}

/** Thrown on 401: the API document, Authentication 7. */
export class KeyRejected extends BrandapiError {
  override readonly exitCode = exitCodes.unauthorized;
  override readonly code = "unauthorized";
}

/** Thrown on 403: the key lacks the scope, or the address is not on its allowlist. */
export class AccessForbidden extends BrandapiError {
  override readonly exitCode = exitCodes.forbidden;
  override readonly code: string = "forbidden";
}

/** Thrown on 402: the brand's plan does not include the data. */
export class PlanLacksData extends AccessForbidden {
  override readonly code = "plan";
}

/** Thrown when the API could not be reached, or kept answering 429 or 5xx, until the patience ran out. */
export class ApiUnavailable extends BrandapiError {
  override readonly exitCode = exitCodes.unavailable;
  override readonly code = "unavailable";
}

/** Thrown when an answer is not what the API document describes. */
export class UnexpectedResponse extends BrandapiError {
  override readonly exitCode = exitCodes.unexpectedResponse;
  override readonly code: string = "unexpected-answer";
}

/** Thrown when an answer must not be kept, because it is too large, holds too much, or holds the key. */
export class ResponseRejected extends UnexpectedResponse {}

/** Thrown on 400: the API refused the request's parameters. Carries no code of its own: see `status`. */
export class RequestRefused extends UnexpectedResponse {
  override readonly code = "refused";
}

/** Thrown on 404 and 410: nothing is at this address. */
export class NotFound extends UnexpectedResponse {
  override readonly code = "not-found";
}

/** Thrown when part of the work succeeded and part did not. */
export class Incomplete extends BrandapiError {
  override readonly exitCode = exitCodes.incomplete;
  override readonly code: string = "incomplete";
}

/** Thrown when another run holds this mirror. */
export class MirrorBusy extends BrandapiError {
  override readonly exitCode = exitCodes.busy;
  override readonly code = "busy";
}

/** Thrown by `status --max-age` when something is older than allowed. */
export class MirrorStale extends BrandapiError {
  override readonly exitCode = exitCodes.stale;
  override readonly code = "stale";
}

/** The signals that ask the program to end, and its exit code then. */
export const stopCodes = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hungUp,
} as const;

/** Thrown when a signal asked for a stop. */
export class Stopped extends BrandapiError {
  override readonly exitCode: ExitCode;
  override readonly code = "stopped";

  constructor(
    readonly signalName: keyof typeof stopCodes,
    hint = "what was done so far is kept: run the same command again to go on",
  ) {
    super("Stopped.", { hint });
    this.exitCode = stopCodes[signalName];
  }
}
