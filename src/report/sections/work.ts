import { counted } from "../../lib/counted.js";
import { dayRange } from "../../lib/ranges.js";
import {
  type Campaign,
  type Clicks,
  type Days,
  readCampaigns,
  readClickCoverage,
  readClicks,
  readCovered,
  readDelivered,
} from "../../query/index.js";
import type { Context } from "../context.js";
import { dayName } from "../dates.js";
import { type Block, type Figure, type Section, words } from "../document.js";
import { isRead, type Read } from "../period.js";

/** From clicks to orders, by the API's own counts. */
export function clicksSection({ mirror, days, period, numbers }: Context): Section {
  const covered = readClickCoverage(mirror);
  const now = readClicks(mirror, days);
  const comparisonOf = (other: (Days & { name: string }) | null) => {
    const clicks =
      other && areRead(covered, days) && areRead(covered, other) ? readClicks(mirror, other) : null;
    return clicks ? [{ title: other?.name ?? "", clicks }] : [];
  };
  const before = [...comparisonOf(period.before), ...comparisonOf(period.year_ago)];
  const figure = (title: string, value: (clicks: Clicks) => number, note = ""): Figure => ({
    title,
    note,
    value: numbers.count(now ? value(now) : 0),
    comparisons: before.map((other) => ({
      title: other.title,
      change: numbers.change(now ? value(now) : 0, value(other.clicks)),
      before: numbers.count(value(other.clicks)),
    })),
  });
  const share = (part: number, all: number, of: string) =>
    all > 0 ? `${numbers.percent(part / all)} of ${of}` : "";
  const { total_clicks: clicks = 0, buy_now_clicks: store = 0, orders = 0 } = now ?? {};
  return {
    id: "clicks",
    title: "Clicks to sales",
    lead: `As the API counts, in all currencies; its orders can differ from those above.${unread(now === null || areRead(covered, days))}`,
    blocks: [
      now
        ? {
            kind: "figures",
            title: "",
            figures: [
              figure("Clicks", ({ total_clicks }) => total_clicks),
              figure(
                "Clicks to the store",
                ({ buy_now_clicks }) => buy_now_clicks,
                share(store, clicks, "clicks"),
              ),
              figure(
                "Orders, as the API counts",
                (one) => one.orders,
                share(orders, store, "clicks to the store"),
              ),
            ],
          }
        : { kind: "text", text: "The mirror holds no clicks of these days." },
    ],
  };
}

const mostCampaigns = 8;

/** Campaigns with something open: late ones, then what is due next. */
export function campaignsSection({ mirror, proof, reached, numbers }: Context): Section {
  const campaigns = readCampaigns(mirror);
  const wasRead = proof.read.some(({ resource, at }) => resource === "opportunities" && at !== null);
  const late = campaigns.filter(({ is_overdue }) => is_overdue);
  const today = new Date(reached).toISOString().slice(0, 10);
  const others = campaigns.filter(({ is_overdue }) => !is_overdue);
  const isAhead = ({ deadline }: Campaign) => (deadline ?? "") >= today;
  const next = [...others.filter(isAhead), ...others.filter((campaign) => !isAhead(campaign))];
  const sum = (noun: string, of: (campaign: Campaign) => number) =>
    counted(
      campaigns.reduce((all, one) => all + of(one), 0),
      noun,
      (count) => numbers.count(count).text,
    );
  const none = wasRead ? "Nothing is open in any campaign." : "The campaigns were not read.";
  return {
    id: "campaigns",
    title: "Open campaigns",
    lead:
      campaigns.length === 0
        ? ""
        : `${counted(campaigns.length, "campaign")}, ${late.length} late: ${sum("deliverable", (one) => one.deliverables_open)} open, ${sum("payment", (one) => one.payments_open)} to make, ${sum("payment", (one) => one.payouts_open)} still to reach hosts.`,
    blocks:
      campaigns.length === 0
        ? [{ kind: "text", text: none }]
        : [...campaignTable("Late", late), ...campaignTable("Next", next)],
  };
}

function campaignTable(title: string, campaigns: readonly Campaign[]): Block[] {
  if (campaigns.length === 0) return [];
  const count = (value: number) => ({ value, text: value === 0 ? "" : String(value) });
  return [
    {
      kind: "table",
      title,
      columns: [
        { key: "campaign", title: "Campaign", kind: "name" },
        { key: "status", title: "Status", kind: "short", is_spare: true },
        { key: "deadline", title: "Due", kind: "short" },
        { key: "deliverables_open", title: "Deliverables", kind: "number" },
        { key: "assignments_open", title: "Hosts at work", kind: "number", is_spare: true },
        { key: "payments_open", title: "To pay", kind: "number" },
        { key: "payouts_open", title: "To reach hosts", kind: "number", is_spare: true },
      ],
      rows: campaigns
        .slice(0, mostCampaigns)
        .map((one) => [
          words(one.title, "no title"),
          words(one.status?.toLowerCase() ?? null, "none"),
          { value: one.deadline, text: one.deadline === null ? "no date" : dayName(one.deadline) },
          count(one.deliverables_open),
          count(one.assignments_open),
          count(one.payments_open),
          count(one.payouts_open),
        ]),
      source: "campaigns_owing",
      more: Math.max(0, campaigns.length - mostCampaigns),
    },
  ];
}

const mostDelivered = 10;

export function contentSection({ mirror, days, numbers }: Context): Section {
  const rows = readDelivered(mirror, days);
  const wasRead = areRead(readCovered(mirror, "content"), days);
  const none = wasRead ? "No files were added." : "The files of these days were not read.";
  const files = rows.reduce((sum, one) => sum + one.files, 0);
  const write = (count: number) => numbers.count(count).text;
  const table: Block = {
    kind: "table",
    title: "Files by host",
    columns: [
      { key: "host", title: "Host", kind: "name" },
      { key: "newest_filename", title: "Newest", kind: "name", is_spare: true },
      { key: "files", title: "Files", kind: "number" },
      { key: "images", title: "Images", kind: "number", is_spare: true },
      { key: "videos", title: "Videos", kind: "number", is_spare: true },
      { key: "deliverables", title: "For a campaign", kind: "number" },
    ],
    rows: rows
      .slice(0, mostDelivered)
      .map((row) => [
        words(row.host_name, "no host"),
        words(row.newest_filename, "no name"),
        ...[row.files, row.images, row.videos, row.deliverables].map(numbers.count),
      ]),
    source: "content",
    more: Math.max(0, rows.length - mostDelivered),
  };
  return {
    id: "content",
    title: "Files in the library",
    lead:
      rows.length === 0
        ? ""
        : `${counted(files, "file", write)} by ${counted(rows.length, "host", write)} added.${unread(wasRead)}`,
    blocks: rows.length === 0 ? [{ kind: "text", text: none }] : [table],
  };
}

/** True if days were read to their end: these resources are read a while before the orders. */
function areRead(covered: Read, days: Days): boolean {
  return isRead(covered, days, dayRange(days.until).from);
}

function unread(wasRead: boolean): string {
  return wasRead ? "" : " Not all of these days were read: there may be more.";
}
