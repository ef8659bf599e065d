import { type BrandMaterial, type ContentItem, timeText } from "../brand.js";
import { toContentHost, toHost } from "./people-data.js";
import { chance, createRandom, orNull, pick, randomInteger, randomUuid } from "./random.js";

export const contentSources = ["deliverable", "upload"] as const;
export const mediaTypes = ["image", "video", "audio", "document", "other"] as const;

const kinds = [
  ["image", "jpg", "image/jpeg"],
  ["image", "png", "image/png"],
  ["image", "webp", "image/webp"],
  ["video", "mp4", "video/mp4"],
  ["video", "mov", "video/quicktime"],
  ["audio", "mp3", "audio/mpeg"],
  ["document", "pdf", "application/pdf"],
  ["other", "zip", "application/zip"],
] as const;
const stems = `IMG_2041|reel final FINAL|Müsli & Café|the "good" one|O'Brien try-on|story, part 2|Höhenweg 🏔️|contract|=SUM edit|raw.cut.v3`;

/** Returns library file number `place`, added at `created`; its bytes follow from its id. */
export function createContent(
  { seed, people, opportunities }: BrandMaterial,
  place: number,
  created: number,
): ContentItem {
  const d = createRandom(seed, "content", place);
  const id = randomUuid(d);
  const source = chance(d, 0.65) ? "deliverable" : "upload";
  const [media, extension, mime] = pick(d, kinds);
  const campaign = source === "deliverable" && opportunities.length > 0 ? pick(d, opportunities) : undefined;
  const assignment = campaign && campaign.assignments.length > 0 ? pick(d, campaign.assignments) : undefined;
  const deliverable = campaign && chance(d, 0.9) ? pick(d, campaign.deliverables) : undefined;
  const isHosts = people.length > 0 && (campaign !== undefined || chance(d, 0.3));
  const host = assignment ? assignment.host : isHosts ? toHost(pick(d, people)) : null;
  return {
    id,
    source,
    media_type: media,
    filename: orNull(d, 0.05, `${pick(d, stems.split("|"))}.${extension}`),
    mime_type: orNull(d, 0.05, mime),
    // Most files are small, a few come to 2 MB.
    file_size_bytes: orNull(
      d,
      0.05,
      Math.floor(1_024 * 2 ** ((randomInteger(d, 0, 1_000) / 1_001) * randomInteger(d, 4, 11))),
    ),
    created_at: timeText(created),
    uploaded_by: source === "deliverable" ? "host" : pick(d, ["brand", "brand", "peer_brand"]),
    host: host && toContentHost(host),
    opportunity: campaign
      ? {
          id: campaign.id,
          title: campaign.title,
          assignment_id: assignment?.id ?? null,
          assignment_status: assignment?.status ?? null,
        }
      : null,
    deliverable: deliverable
      ? { id: deliverable.id, title: deliverable.title, due_date: deliverable.due_date }
      : null,
    download_path: `/content/${source}/${id}/download`,
  };
}
