import type { Dataset } from "./data/dataset.js";
import { type OpenRecord, surveyResults } from "./data/undocumented.js";
import { type Endpoint, endpoint, pageOf } from "./endpoint.js";
import type { Scope } from "./keys.js";
import type { Settings } from "./options.js";
import { Refusal } from "./refusal.js";
import { paging } from "./rules.js";

/** Endpoints 11 to 14: the document gives their paths and scopes, and shows nothing else. */
export function openEndpoints({ undocumented }: Settings): Endpoint[] {
  const { paginated, strict } = undocumented;

  function list(path: string, scope: Scope, records: (data: Dataset) => readonly OpenRecord[]): Endpoint {
    if (!paginated)
      return endpoint({ path, scope, rules: {}, strict, answer: ({ data }) => ({ data: records(data) }) });
    return endpoint({
      path,
      scope,
      rules: paging,
      strict,
      answer: ({ data, query }) => pageOf(records(data), query, (record) => record),
    });
  }

  return [
    list("/gifts", "gifts:read", (data) => data.gifts),
    list("/codes", "codes:read", (data) => data.codes),
    list("/surveys", "surveys:read", (data) => data.surveys),
    endpoint({
      path: "/surveys/{id}/results",
      scope: "surveys:read",
      rules: {},
      strict,
      answer({ data, params }) {
        const place = data.surveys.findIndex(({ id }) => String(id) === params[0]);
        const survey = data.surveys[place];
        if (!survey) throw new Refusal(404, "not_found", "No survey with this id belongs to the brand.");
        return { data: surveyResults(data.world, survey, place) };
      },
    }),
  ];
}
