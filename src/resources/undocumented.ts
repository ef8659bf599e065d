import { requestParameter } from "./fields.js";
import { common, type Resource } from "./resource.js";

/**
 * Gifts, discount codes, surveys and their results (API document, "11 to 14"). Their payloads are not documented, so
 * the scalars of the records become columns.
 */
function undocumentedResource(name: "gifts" | "codes" | "surveys", about: string) {
  return {
    ...common,
    name,
    about,
    path: `/${name}`,
    scope: `${name}:read`,
    pagination: "unknown",
    strategy: { kind: "full" },
    table: name,
    tableAbout: `one row per record from /${name}; the columns are the scalars found in records so far`,
    discoversColumns: true,
    fields: [],
  } as const satisfies Resource;
}

export const gifts = undocumentedResource("gifts", "products sent to hosts");
const undocumentedCodes = undocumentedResource("codes", "discount codes that hosts share");

export const codes = {
  ...undocumentedCodes,
  tableAbout: `${undocumentedCodes.tableAbout}; orders have no field that names a code`,
} as const satisfies Resource;

export const surveyResults = {
  ...undocumentedResource("surveys", "aggregate results by question"),
  name: "survey-results",
  path: "/surveys/{id}/results",
  table: "survey_results",
  tableAbout: "one row per record in a survey's results; the columns are the scalars found in records so far",
  fields: [requestParameter("survey_id", "text", "the survey")],
} as const satisfies Resource;

export const surveys = {
  ...undocumentedResource("surveys", "surveys with aggregate results"),
  strategy: {
    kind: "details",
    path: (id) => `/surveys/${encodeURIComponent(id)}/results`,
    canChange: () => true,
    into: { resource: surveyResults, parent: "survey_id" },
  },
} as const satisfies Resource;
