import { requestParameter } from "./fields.js";
import { type Resource, resourceDefaults } from "./resource.js";

const discovered = "each scalar field seen so far has a column";

/**
 * Gifts, codes and surveys (see "11 to 14" in the API documentation). Their fields are not documented, so every scalar
 * that appears in a record becomes a column.
 */
function undocumentedResource(name: "gifts" | "codes" | "surveys", about: string) {
  return {
    ...resourceDefaults,
    name,
    about,
    path: `/${name}`,
    scope: `${name}:read`,
    pagination: "unknown",
    strategy: { kind: "list" },
    table: name,
    tableAbout: `one row per record from /${name}; ${discovered}`,
    discoversColumns: true,
    fields: [],
  } as const satisfies Resource;
}

export const gifts = undocumentedResource("gifts", "products sent to hosts");

export const codes = {
  ...undocumentedResource("codes", "discount codes that hosts share"),
  tableAbout: `one row per record from /codes; ${discovered}; orders do not record which code was used`,
} as const satisfies Resource;

export const surveyResults = {
  ...undocumentedResource("surveys", "aggregate results by question"),
  name: "survey-results",
  path: "/surveys/{id}/results",
  table: "survey_results",
  tableAbout: `one row per record in a survey's results; ${discovered}`,
  fields: [requestParameter("survey_id", "text", "the survey")],
} as const satisfies Resource;

export const surveys = {
  ...undocumentedResource("surveys", "surveys with aggregate results"),
  strategy: {
    kind: "details",
    path: (id) => `/surveys/${encodeURIComponent(id)}/results`,
    canChange: () => true,
    detailRecords: {
      resource: surveyResults,
      parentField: "survey_id",
      singular: { record: "survey", detail: "result" },
    },
  },
} as const satisfies Resource;
