import { integer, list, object, text } from "./fields.js";
import { hostProfileFields } from "./host.js";
import { type Resource, resourceDefaults } from "./resource.js";

/** See "10. GET /recommendations" and "Recommendation" in the API documentation. */
export const recommendations = {
  ...resourceDefaults,
  name: "recommendations",
  about: "hosts who recommend the brand's products on their gear lists",
  path: "/recommendations",
  scope: "recommendations:read",
  strategy: { kind: "list" },
  key: ["host.id"],
  table: "recommendations",
  tableAbout: "one row per host",
  indexes: [["host_id"]],
  fields: [
    object("host", [...hostProfileFields, text("motto")]),
    integer("product_count", "number of recommended products"),
    list("products", {
      table: "recommendation_products",
      about: "one row per product that a host recommends, with every field that the API returns",
      parentKey: [{ column: "host_id", mainColumn: "host_id" }],
      discoversColumns: true,
      fields: [text("id", "product id"), text("title")],
    }),
  ],
} as const satisfies Resource;
