import { formatInstant } from "../util/timestamps.js";
import { analyticsEndpoints } from "./analytics-endpoints.js";
import { contentEndpoints } from "./content-endpoints.js";
import { type Endpoint, parseQuery } from "./endpoint.js";
import { opportunitiesEndpoints } from "./opportunities-endpoints.js";
import { ordersEndpoint } from "./orders-endpoint.js";
import { recommendationsEndpoint } from "./recommendations-endpoint.js";
import { rosterEndpoint } from "./roster-endpoint.js";
import { undocumentedEndpoints } from "./undocumented-endpoints.js";

const meEndpoint: Endpoint = {
  path: "/me",
  scope: null,
  handle({ brand: { id, name }, key, query }) {
    parseQuery({}, query);
    const { id: keyId, scopes, expiresAt } = key;
    return {
      data: { brand: { id, name }, key: { id: keyId, scopes, expires_at: formatInstant(expiresAt) } },
    };
  },
};

/** The sandbox's keys have the scopes of these endpoints, in this order. */
export const endpoints: readonly Endpoint[] = [
  meEndpoint,
  ...analyticsEndpoints,
  ordersEndpoint,
  ...opportunitiesEndpoints,
  ...contentEndpoints,
  rosterEndpoint,
  recommendationsEndpoint,
  ...undocumentedEndpoints,
];
