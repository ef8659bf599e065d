/** Thrown to answer with an error status: what the caller did, in a status, a short code and a sentence. */
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
}

export type ErrorBody = "nested" | "flat" | "problem" | "text" | "html" | "empty";

/** The body of an error, in one of the forms that clients meet: its fields are "not shown". */
export function errorBody(form: ErrorBody, refusal: Refusal): { type: string | undefined; body: string } {
  const { status, code, message } = refusal;
  if (form === "nested") return json({ success: false, error: { code, message, status } });
  if (form === "flat") return json({ success: false, error: code, message });
  if (form === "problem") {
    return json({ type: "about:blank", title: code, status, detail: message }, "application/problem+json");
  }
  if (form === "text") return { type: "text/plain; charset=utf-8", body: `${status} ${message}\n` };
  if (form === "html") {
    const page = `<!doctype html><title>${status}</title><h1>${code}</h1><p>${message.replace(/[<>&]/g, "")}</p>\n`;
    return { type: "text/html; charset=utf-8", body: page };
  }
  return { type: undefined, body: "" };
}

function json(value: unknown, type = "application/json"): { type: string; body: string } {
  return { type: `${type}; charset=utf-8`, body: JSON.stringify(value) };
}
