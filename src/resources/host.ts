import { type Field, json, signedUrl, text } from "./fields.js";

/** A host's public identity (see "Host" in the API documentation). */
export const hostFields: readonly Field[] = [
  text("id", "the host's user ID"),
  text("username", "public handle"),
  text("first_name"),
  text("last_name"),
  signedUrl("profile_photo", "photo URL"),
];

/** A host's identity and public profile, which only the roster and recommendations contain. */
export const hostProfileFields: readonly Field[] = [
  ...hostFields,
  text("title", "headline"),
  text("intro", "public bio"),
  text("discipline", "primary discipline"),
  text("specialty"),
  text("location", "city, without a street address"),
  json("socials", "public links by network"),
];
