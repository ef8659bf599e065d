import type { Campaign } from "./campaigns.js";
import { contentHost } from "./hosts.js";
import { between, chance, type Draws, draws, hash, pick, topics, uuid } from "./random.js";
import { day, timeText } from "./timeline.js";
import type { World } from "./world.js";

export const contentSources = ["deliverable", "upload"] as const;
export type ContentSource = (typeof contentSources)[number];
export const mediaTypes = ["image", "video", "audio", "document", "other"] as const;
export type MediaType = (typeof mediaTypes)[number];

/** A file of the brand's library. Its bytes are computed from its id: see downloads. */
export interface ContentItem {
  id: string;
  source: ContentSource;
  mediaType: MediaType;
  filename: string | null;
  mimeType: string | null;
  /** What the record says; null: unknown. */
  statedSize: number | null;
  /** How many bytes the file has. */
  size: number;
  createdAt: number;
  uploadedBy: "host" | "brand" | "peer_brand";
  /** Place in the world's hosts, or null. */
  host: number | null;
  campaign: Campaign | null;
  assignmentId: string | null;
  deliverableId: string | null;
}

const kinds: Record<MediaType, readonly (readonly [extension: string, mime: string])[]> = {
  image: [
    ["jpg", "image/jpeg"],
    ["png", "image/png"],
    ["webp", "image/webp"],
  ],
  video: [
    ["mp4", "video/mp4"],
    ["mov", "video/quicktime"],
  ],
  audio: [["mp3", "audio/mpeg"]],
  document: [["pdf", "application/pdf"]],
  other: [["zip", "application/zip"]],
};

/** File names as people give them. Hostile ones are a matter of tests, through events. */
const stems = [
  "IMG_2041",
  "reel final FINAL",
  "Müsli & Café",
  'the "good" one',
  "O'Brien try-on",
  "story, part 2",
  "Höhenweg 🏔️",
  "contract",
  "sunrise",
  "=SUM edit",
  "raw.cut.v3",
] as const;

export const contentCount = 400;

/** The library, newest first. */
export function createLibrary(world: World, campaigns: readonly Campaign[]): ContentItem[] {
  const items = Array.from({ length: contentCount }, (_, place) => {
    const age = Math.floor(
      ((place + 0.5) * (600 * day)) / contentCount + (hash(world.seed, topics.content, -place - 9) % day),
    );
    return createContent(world, campaigns, place, world.anchor - age);
  });
  // Ties happen: files of one upload share their instant.
  for (let place = 20; place < items.length; place += 37) {
    const [item, neighbour] = [items[place], items[place - 1]];
    if (item && neighbour) item.createdAt = neighbour.createdAt;
  }
  return items.sort((a, b) => b.createdAt - a.createdAt);
}

export function createContent(
  world: World,
  campaigns: readonly Campaign[],
  place: number,
  createdAt: number,
): ContentItem {
  const d = draws(world.seed, topics.content, place);
  const source = chance(d, 0.65) ? "deliverable" : "upload";
  const mediaType = pick(d, [
    "image",
    "image",
    "image",
    "video",
    "video",
    "audio",
    "document",
    "other",
  ] as const);
  const [extension, mime] = pick(d, kinds[mediaType]);
  const size = Math.floor(1024 * 2 ** next11(d));
  const item: ContentItem = {
    id: uuid(world.seed, topics.contentId, place),
    source,
    mediaType,
    filename: chance(d, 0.05) ? null : `${pick(d, stems)}.${extension}`,
    mimeType: chance(d, 0.05) ? null : mime,
    statedSize: chance(d, 0.05) ? null : size,
    size,
    createdAt: Math.floor(createdAt),
    uploadedBy: source === "deliverable" ? "host" : pick(d, ["brand", "brand", "peer_brand"]),
    host: null,
    campaign: null,
    assignmentId: null,
    deliverableId: null,
  };
  if (source === "deliverable") linkToCampaign(d, item, campaigns, world.hosts.length);
  else if (chance(d, 0.3)) item.host = between(d, 0, world.hosts.length - 1);
  return item;
}

/** An exponent in [0, 11): most files are small, a few come to 2 MB. */
function next11(d: Draws): number {
  return (between(d, 0, 1000) / 1001) * between(d, 4, 11);
}

function linkToCampaign(d: Draws, item: ContentItem, campaigns: readonly Campaign[], hosts: number): void {
  const campaign = pick(d, campaigns);
  const assignment = campaign.assignments.length > 0 ? pick(d, campaign.assignments) : undefined;
  item.campaign = campaign;
  item.assignmentId = assignment?.id ?? null;
  item.deliverableId = chance(d, 0.1) ? null : pick(d, campaign.deliverables).id;
  item.host = assignment ? (assignment.host < 0 ? null : assignment.host) : between(d, 0, hosts - 1);
}

/** Whether `download_path` repeats the versioned root: the document leaves both readings open. */
export type DownloadPath = "short" | "full";

/** A content item as `/content` serves it. */
export function contentRecord(world: World, item: ContentItem, path: DownloadPath) {
  const host = item.host === null ? undefined : world.hosts[item.host];
  const assignment = item.campaign?.assignments.find((one) => one.id === item.assignmentId);
  const deliverable = item.campaign?.deliverables.find((one) => one.id === item.deliverableId);
  return {
    id: item.id,
    source: item.source,
    media_type: item.mediaType,
    filename: item.filename,
    mime_type: item.mimeType,
    file_size_bytes: item.statedSize,
    created_at: timeText(item.createdAt),
    uploaded_by: item.uploadedBy,
    host: host ? contentHost(host) : null,
    opportunity: item.campaign
      ? {
          id: item.campaign.id,
          title: item.campaign.title,
          assignment_id: assignment?.id ?? null,
          assignment_status: assignment?.status ?? null,
        }
      : null,
    deliverable: deliverable
      ? { id: deliverable.id, title: deliverable.title, due_date: deliverable.dueDate }
      : null,
    download_path: `${path === "full" ? "/api/brand/v1" : ""}/content/${item.source}/${item.id}/download`,
  };
}
