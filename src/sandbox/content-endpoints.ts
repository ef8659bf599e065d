import { dayMs, formatInstant } from "../util/timestamps.js";
import type { Brand } from "./brand.js";
import {
  type Endpoint,
  type EndpointContext,
  instant,
  matchesFilter,
  notFound,
  oneOf,
  paging,
  parseQuery,
  respondWithPage,
  selectRange,
  someOf,
  uuids,
} from "./endpoint.js";
import { createDownloadUrl } from "./file-host.js";
import { toContentHost, toHost } from "./people.js";
import { chance, createRandom, orNull, pick, randomInteger, randomUuid } from "./random.js";

export interface ContentItem {
  [field: string]: unknown;
  id: string;
  source: string;
  media_type: string;
  filename: string | null;
  mime_type: string | null;
  file_size_bytes: number | null;
  created_at: string;
  host: { id: string; username: string | null; name: string | null } | null;
  opportunity: {
    id: string;
    title: string;
    assignment_id: string | null;
    assignment_status: string | null;
  } | null;
  download_path: string;
}

const contentSources = ["deliverable", "upload"] as const;
const mediaTypes = ["image", "video", "audio", "document", "other"] as const;

export const contentEndpoints: readonly Endpoint[] = [
  { path: "/content", scope: "content:read", handle: listContent },
  { path: "/content/{source}/{item_id}/download", scope: "content:read", handle: getDownload },
];

function listContent({ brand, query }: EndpointContext) {
  const { uploaded_after, uploaded_before, sort, page, per_page, ...filters } = parseQuery(
    {
      ...paging,
      source: someOf(contentSources),
      media_type: someOf(mediaTypes),
      opportunity_id: uuids,
      host_id: uuids,
      uploaded_after: instant,
      uploaded_before: instant,
      sort: oneOf(["newest", "oldest"], "newest"),
    },
    query,
  );
  const added = selectRange(brand.content, "created_at", {
    from: uploaded_after?.at ?? null,
    // The end of the range, `uploaded_before`, is exclusive (see "GET /content" in the API documentation).
    to: uploaded_before ? uploaded_before.at - 1 : null,
  });
  const matching = added.filter(
    (item) =>
      matchesFilter(filters.source, item.source) &&
      matchesFilter(filters.media_type, item.media_type) &&
      matchesFilter(filters.opportunity_id, item.opportunity?.id) &&
      matchesFilter(filters.host_id, item.host?.id),
  );
  if (sort === "oldest") matching.reverse();
  return respondWithPage(matching, { page, per_page });
}

function getDownload({ brand, query, params: [source, id = ""], filesUrl, now }: EndpointContext) {
  parseQuery({}, query);
  const item = brand.content.find((one) => one.source === source && one.id === id.toLowerCase());
  return { data: createDownloadUrl(brand, item ?? notFound("item"), filesUrl, now) };
}

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

const fileCount = 400;

export function createLibrary(brand: Brand, now: number): ContentItem[] {
  return Array.from({ length: fileCount }, (_, index) =>
    createContent(brand, index, fileDate(brand.seed, index, now)),
  );
}

/** Returns a date in the last 600 days. One in 37 files has the same date as the previous file. */
function fileDate(seed: number, index: number, now: number): number {
  const n = index % 37 === 36 ? index - 1 : index;
  return Math.floor(
    now - ((n + 0.5) * 600 * dayMs) / fileCount - randomInteger(createRandom(seed, "file", n), 0, dayMs),
  );
}

export function createContent(
  { seed, people, opportunities }: Brand,
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
