import { type Field, json, signedUrl, text } from "./fields.js";

/** The public identity of a host: the API document, "Host". Endpoints return one of these four shapes. */
export const baseHost: readonly Field[] = [
  text("id", "host user id"),
  text("username", "public handle"),
  text("first_name"),
  text("last_name"),
  signedUrl("profile_photo", "URL of the photo"),
];

/** With the public profile, as in the roster. */
export const profileHost: readonly Field[] = [
  ...baseHost,
  text("title", "headline"),
  text("intro", "public bio"),
  text("discipline", "primary discipline"),
  text("specialty"),
  text("location", "city-level, never an address"),
  json("socials", "public links keyed by network"),
];

/** With the profile and a motto, as in recommendations. */
export const mottoHost: readonly Field[] = [...profileHost, text("motto")];

/** With a display name and no photo, as in content. */
export const contentHost: readonly Field[] = [
  text("id", "host user id"),
  text("username"),
  text("name", "display name"),
];
