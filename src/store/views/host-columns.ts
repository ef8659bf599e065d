import { text } from "../../resources/fields.js";
import type { ViewColumn } from "./view.js";

export const hostUsername: ViewColumn = text("host_username", "the host's handle");
export const hostLabel: ViewColumn = text(
  "host_label",
  "the handle, the full name, or the first eight characters of the ID",
);

export const hostColumns: readonly ViewColumn[] = [
  text("host_id", "the host's user ID"),
  hostUsername,
  hostLabel,
];

/**
 * Returns SQL for `hostColumns`.
 * @param id an SQL expression for the host's ID
 */
export function selectHost(id: string): string {
  return `${id} AS host_id, ${selectHostUsername(id)} AS host_username, ${selectHostLabel(id)} AS host_label`;
}

/**
 * Returns SQL for a host's newest handle.
 * @param id an SQL expression for the host's ID
 */
export function selectHostUsername(id: string): string {
  return `(SELECT n.username FROM host_names AS n WHERE n.host_id = ${id} ORDER BY n.read_at DESC LIMIT 1)`;
}

/**
 * Returns SQL for a host's label: the handle, the full name, or the start of the ID. The label is null if the
 * ID is null.
 * @param id an SQL expression for the host's ID
 */
export function selectHostLabel(id: string): string {
  return `CAST(coalesce((SELECT coalesce(nullif(n.username, ''), n.name) FROM host_names AS n WHERE n.host_id = ${id}
      ORDER BY n.read_at DESC LIMIT 1), substr(${id}, 1, 8)) AS TEXT)`;
}
