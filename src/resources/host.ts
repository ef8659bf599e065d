import { type Field, json, signedUrl, text } from "./fields.js";

/** A host's public identity (API document, "Host"). The endpoints return four variants. */
export const baseHost: readonly Field[] = [
  text("id", "the host's user ID"),
  text("username", "public handle"),
  text("first_name"),
  text("last_name"),
  signedUrl("profile_photo", "photo URL"),
];

/** A host with a public profile, as listed in the roster. */
export const profileHost: readonly Field[] = [
  ...baseHost,
  text("title", "headline"),
  text("intro", "public bio"),
  text("discipline", "primary discipline"),
  text("specialty"),
  text("location", "city, never an address"),
  json("socials", "public links by network"),
];

/** A host with a public profile and a motto, as listed in recommendations. */
export const mottoHost: readonly Field[] = [...profileHost, text("motto")];

/** A host with a display name but no photo, as listed in content. */
export const contentHost: readonly Field[] = [
  text("id", "the host's user ID"),
  text("username"),
  text("name", "display name"),
];
