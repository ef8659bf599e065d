/** Thrown to answer with an error status. The fields of error bodies are "not shown": these are the sandbox's own. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
    this.name = "Refusal";
  }

  body(): string {
    const { status, code, message } = this;
    return JSON.stringify({ success: false, error: { code, message, status } });
  }
}
