import { formatInstant } from "../../util/times.js";
import type { BrandMaterial, ContentItem } from "../brand.js";
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

export function createContent(
  { seed, people, opportunities }: BrandMaterial,
  index: number,
  created: number,
): ContentItem {
  const random = createRandom(seed, "content", index);
  const id = randomUuid(random);
  const source = chance(random, 0.65) ? "deliverable" : "upload";
  const [media, extension, mime] = pick(random, kinds);
  const campaign =
    source === "deliverable" && opportunities.length > 0 ? pick(random, opportunities) : undefined;
  const assignment =
    campaign && campaign.assignments.length > 0 ? pick(random, campaign.assignments) : undefined;
  const deliverable = campaign && chance(random, 0.9) ? pick(random, campaign.deliverables) : undefined;
  const hasHost = people.length > 0 && (campaign !== undefined || chance(random, 0.3));
  const host = assignment ? assignment.host : hasHost ? toHost(pick(random, people)) : null;
  return {
    id,
    source,
    media_type: media,
    filename: orNull(random, 0.05, `${pick(random, stems.split("|"))}.${extension}`),
    mime_type: orNull(random, 0.05, mime),
    file_size_bytes: orNull(
      random,
      0.05,
      Math.floor(1_024 * 2 ** ((randomInteger(random, 0, 1_000) / 1_001) * randomInteger(random, 4, 11))),
    ),
    created_at: formatInstant(created),
    uploaded_by: source === "deliverable" ? "host" : pick(random, ["brand", "brand", "peer_brand"]),
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
