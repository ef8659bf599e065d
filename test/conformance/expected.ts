import type { Field, Json, JsonObject, Resource } from "../../src/resources/types.js";
import type { RecordSet, Sandbox } from "../support/old-sandbox/index.js";

/** A record that the API serves, and what a client must have asked for to get it. */
export interface Expected {
  /** What tells it from the others of its resource. */
  identity: string;
  record: JsonObject;
  context: JsonObject;
}

const sets: Record<string, RecordSet> = {
  orders: "orders",
  roster: "roster",
  recommendations: "recommendations",
  opportunities: "opportunity-details",
  content: "content",
  "analytics-hosts": "analytics-hosts",
  gifts: "gifts",
  codes: "codes",
  surveys: "surveys",
  "survey-results": "survey-results",
};

/** Every record of a resource as the API serves it now: past the program, straight from its source. */
export async function expectedRecords(sandbox: Sandbox, resource: Resource): Promise<Expected[]> {
  if (resource.name === "analytics-clicks") return await expectedMonths(sandbox);
  const set = sets[resource.name];
  if (!set) throw new Error(`no records to compare with: ${resource.name}`);
  const surveys = set === "survey-results" ? ([...sandbox.records("surveys")] as JsonObject[]) : [];
  return ([...sandbox.records(set)] as JsonObject[]).map((record, position) => {
    const context: JsonObject =
      set === "analytics-hosts"
        ? { position }
        : set === "survey-results"
          ? { survey_id: String(surveys[position]?.id) }
          : {};
    return { identity: identityOf(resource, record, context), record, context };
  });
}

/** The same for what the API answers and for what the mirror holds. */
export function identityOf(resource: Resource, record: JsonObject, context: JsonObject): string {
  if (resource.name === "analytics-clicks") return String(context.period_start);
  if (resource.name === "analytics-hosts") return `#${context.position}`;
  if (resource.name === "survey-results") return `${context.survey_id}`;
  return resource.key.map((path) => String(memberAt(record, path.split(".")))).join("/");
}

async function expectedMonths(sandbox: Sandbox): Promise<Expected[]> {
  const whole = (await askClicks(sandbox, "group_by=month")) as { timeseries: { date: string }[] };
  const first = whole.timeseries[0]?.date ?? "";
  const months: Expected[] = [];
  for (let month = `${first.slice(0, 7)}-01`; Date.parse(month) <= sandbox.now(); ) {
    const next = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5, 7)), 1));
    const end = new Date(next.getTime() - 1).toISOString();
    const query = `start_date=${month}T00:00:00.000Z&end_date=${end}&group_by=day&limit=100`;
    const context = { period_start: month, period_end: end.slice(0, 10), group_by: "day", host_id: null };
    months.push({
      identity: month,
      record: (await askClicks(sandbox, query)) as JsonObject,
      context,
    });
    month = next.toISOString().slice(0, 10);
  }
  return months;
}

async function askClicks(sandbox: Sandbox, query: string): Promise<unknown> {
  const response = await fetch(`${sandbox.baseUrl}/analytics/clicks?${query}`, {
    headers: { authorization: `Bearer ${sandbox.key}` },
  });
  return ((await response.json()) as { data: unknown }).data;
}

export type Row = Record<string, string | number | null>;

/** The rows that a record must have in each table: this suite's own reading of the contract, not the program's. */
export function rowsOf(resource: Resource, { record, context }: Expected): Map<string, Row[]> {
  const main = columnsOf(resource.fields, record, context, "");
  const tables = new Map([[resource.table, [main]]]);
  collectLists(resource.fields, record, main, tables);
  return tables;
}

function columnsOf(fields: readonly Field[], object: unknown, context: JsonObject, prefix: string): Row {
  const row: Row = {};
  for (const field of fields) {
    if (field.kind === "list") continue;
    if (field.kind === "object") {
      const inner = field.prefixed ? `${prefix}${field.name}_` : prefix;
      Object.assign(row, columnsOf(field.fields, member(object, field.name), context, inner));
    } else {
      const value = member(field.from === "context" ? context : object, field.name);
      row[prefix + field.name] = stored(value, field.type);
    }
  }
  return row;
}

function collectLists(
  fields: readonly Field[],
  object: unknown,
  main: Row,
  tables: Map<string, Row[]>,
): void {
  for (const field of fields) {
    if (field.kind === "object") collectLists(field.fields, member(object, field.name), main, tables);
    if (field.kind !== "list") continue;
    const items = (member(object, field.name) ?? []) as Json[];
    tables.set(
      field.table,
      items.map((item, position) => ({
        ...Object.fromEntries(field.parent.map(({ column, from }) => [column, main[from] ?? null])),
        ...(field.position ? { position } : {}),
        ...columnsOf(field.fields, item, {}, ""),
        ...(field.open ? scalarsOf(item) : {}),
      })),
    );
  }
}

/** What an open table must show of a record: every scalar, also in nested objects, under a name that SQL can take. */
export function scalarsOf(value: unknown, prefix = "", depth = 0): Row {
  const row: Row = {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) return row;
  for (const [name, inner] of Object.entries(value)) {
    if (!/^[A-Za-z_]\w*$/.test(name)) continue;
    if (typeof inner === "object") {
      if (depth < 2) Object.assign(row, scalarsOf(inner, `${prefix}${name}_`, depth + 1));
    } else row[prefix + name] = typeof inner === "boolean" ? Number(inner) : (inner as string | number);
  }
  return row;
}

/** A value as its column must hold it; null where it is of another type. */
function stored(value: unknown, type: string): string | number | null {
  if (value === undefined || value === null) return null;
  if (type === "json") return JSON.stringify(value);
  if (type === "boolean") return typeof value === "boolean" ? Number(value) : null;
  if (type === "integer" || type === "number") return typeof value === "number" ? value : null;
  return typeof value === "string" ? value : null;
}

function member(object: unknown, name: string): unknown {
  if (typeof object !== "object" || object === null) return undefined;
  return (object as Record<string, unknown>)[name];
}

function memberAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce(member, object);
}
