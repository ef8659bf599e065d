import { type Field, json, signedUrl, text } from "./fields.js";

/** The public identity of a host: the API document, "Host". Four shapes; none may be written over another. */
export const baseHost: readonly Field[] = [
  text("id", "host user id"),
  text("username", "public handle"),
  text("first_name"),
  text("last_name"),
  signedUrl("profile_photo", "URL of the photo"),
];

/** The roster's host: with the public profile. */
export const profileHost: readonly Field[] = [
  ...baseHost,
  text("title", "headline"),
  text("intro", "public bio"),
  text("discipline", "primary discipline"),
  text("specialty"),
  text("location", "city-level, never an address"),
  json("socials", "public links keyed by network"),
];

/** The recommendations' host: the profile with a motto. */
export const mottoHost: readonly Field[] = [...profileHost, text("motto")];

/** The content item's host: a display name, no photo. */
export const contentHost: readonly Field[] = [
  text("id", "host user id"),
  text("username"),
  text("name", "display name"),
];
