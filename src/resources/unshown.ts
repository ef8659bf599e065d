import { context, type Resource } from "./types.js";

/**
 * Gifts, discount codes, surveys and their results: the API document, "11 to 14", shows neither parameters nor
 * payload. Nothing is guessed: each record is kept whole, keyed by its `id` where it has one, and the scalars
 * that are seen become columns.
 */
function unshown(name: "gifts" | "codes" | "surveys", about: string, section: string) {
  return {
    name,
    about,
    section,
    path: `/${name}`,
    scope: `${name}:read`,
    plan: null,
    pagination: "unknown",
    strategy: { kind: "full" },
    key: ["id"],
    query: {},
    table: name,
    tableAbout: `one row per record of /${name}; its columns are the scalars seen so far`,
    open: true,
    history: true,
    date: null,
    indexes: [],
    fields: [],
  } as const satisfies Resource;
}

export const gifts = unshown("gifts", "products sent to hosts", "11. GET /gifts");
export const codes = unshown("codes", "discount codes that hosts share", "12. GET /codes");

export const surveyResults = {
  ...unshown("surveys", "aggregate results per question", "14. GET /surveys/{id}/results"),
  name: "survey-results",
  path: "/surveys/{id}/results",
  table: "survey_results",
  tableAbout: "one row per record of a survey's results; its columns are the scalars seen so far",
  fields: [context("survey_id", "text", "the survey")],
} as const satisfies Resource;

export const surveys = {
  ...unshown("surveys", "surveys with aggregate results", "13. GET /surveys, 14. GET /surveys/{id}/results"),
  strategy: {
    kind: "details",
    path: (id) => `/surveys/${encodeURIComponent(id)}/results`,
    open: () => true,
    into: { resource: surveyResults, parent: "survey_id" },
  },
} as const satisfies Resource;
