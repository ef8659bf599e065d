import { type Field, json, signedUrl, text } from "./fields.js";

/** The fields of a host's public identity (see "Host" in the API documentation). The endpoints return four variants. */
export const hostFields: readonly Field[] = [
  text("id", "the host's user ID"),
  text("username", "public handle"),
  text("first_name"),
  text("last_name"),
  signedUrl("profile_photo", "photo URL"),
];

/** Hosts in the roster have a public profile. */
export const hostProfileFields: readonly Field[] = [
  ...hostFields,
  text("title", "headline"),
  text("intro", "public bio"),
  text("discipline", "primary discipline"),
  text("specialty"),
  text("location", "city, never an address"),
  json("socials", "public links by network"),
];

/** Hosts in recommendations also have a motto. */
export const mottoHost: readonly Field[] = [...hostProfileFields, text("motto")];

/** Hosts in content have a display name but no photo. */
export const contentHost: readonly Field[] = [
  text("id", "the host's user ID"),
  text("username"),
  text("name", "display name"),
];
