import { counted } from "../../lib/counted.js";
import type { Campaign, Clicks, Delivered } from "../../query/index.js";
import { type Html, html, name } from "../html.js";
import type { Numbers } from "../numbers.js";
import { pageTable, sourceLine } from "../page-table.js";
import { dayName } from "../period.js";
import { section, type Telling } from "../section.js";

function restUnread(isRead: boolean): string {
  return isRead ? "" : " Not all of this time was read: there may be more.";
}

/** Clicks to sales, by the API's own counts. */
export function clicksSection({ report, numbers }: Telling): Html {
  const { now, before } = report.clicks;
  if (now === null)
    return section("clicks", "Clicks to sales", "", html`<p>The mirror holds no clicks of this time.</p>\n`);
  const step = (title: string, of: (clicks: Clicks) => number, share: string) => {
    const change = before === null ? "" : numbers.change(of(now), of(before));
    const then = before === null ? "" : `${numbers.count(of(before))} before`;
    return html`<div><dt>${title}</dt><dd><b>${numbers.count(of(now))}</b>
<span>${change === "" ? "" : html`<em>${change}</em> `}<span class="whole">${then}</span></span>${share === "" ? "" : html`<span>${share}</span>`}</dd></div>
`;
  };
  const part = (one: number, all: number, words: string) =>
    all > 0 ? `${numbers.percent(one / all)} ${words}` : "";
  return section(
    "clicks",
    "Clicks to sales",
    `As the API counts them, of all currencies; its orders are its own number, which can differ from the one above.${restUnread(report.is_read.clicks)}`,
    html`<dl class="metrics three">
${step("Clicks", ({ total_clicks }) => total_clicks, "")}${step("Went to the store", ({ buy_now_clicks }) => buy_now_clicks, part(now.buy_now_clicks, now.total_clicks, "of clicks"))}${step("Orders, as the API counts", ({ orders }) => orders, part(now.orders, now.buy_now_clicks, "of those"))}</dl>
${sourceLine("analytics_clicks")}`,
  );
}

/** Of those that are late, and of those that are not. */
const campaignsMost = 8;

/** What campaigns still owe or are owed: what is late, then what comes next. */
export function campaignsSection({ report, numbers }: Telling): Html {
  const { campaigns } = report;
  const title = "Campaigns and what is owed";
  if (campaigns.length === 0)
    return section(
      "campaigns",
      title,
      "",
      report.is_read.campaigns
        ? html`<p>No campaign owes or is owed anything.</p>\n`
        : html`<p>The campaigns were not read.</p>\n`,
    );
  const late = campaigns.filter(({ is_overdue }) => is_overdue);
  const today = report.reached.slice(0, 10);
  const isAhead = ({ deadline }: Campaign) => (deadline ?? "") >= today;
  const others = campaigns.filter(({ is_overdue }) => !is_overdue);
  const next = [...others.filter(isAhead), ...others.filter((campaign) => !isAhead(campaign))];
  const sum = (noun: string, of: (campaign: Campaign) => number) =>
    counted(
      campaigns.reduce((all, one) => all + of(one), 0),
      noun,
      numbers.count,
    );
  const lead = `${counted(campaigns.length, "campaign", numbers.count)} with something open, ${numbers.count(late.length)} late: ${sum("deliverable", (one) => one.deliverables_open)}, ${sum("payment", (one) => one.payments_open)} to make and ${sum("payment", (one) => one.payouts_open)} to reach hosts.`;
  return section("campaigns", title, lead, [
    campaignTable("Late", late, numbers),
    campaignTable("Due next, and what is left of those that ended", next, numbers),
  ]);
}

function campaignTable(caption: string, campaigns: readonly Campaign[], numbers: Numbers): Html {
  if (campaigns.length === 0) return html``;
  const count = (title: string, of: (campaign: Campaign) => number, spare = false) => ({
    title,
    cell: (campaign: Campaign) => (of(campaign) === 0 ? "" : numbers.count(of(campaign))),
    kind: "number" as const,
    spare,
  });
  const more = campaigns.length - campaignsMost;
  return pageTable<Campaign>(
    caption,
    [
      { title: "Campaign", cell: ({ title }) => name(title, "no title") },
      { title: "Status", cell: ({ status }) => name(status?.toLowerCase() ?? "", "none"), spare: true },
      {
        title: "Due",
        cell: ({ deadline }) => (deadline === null ? "no date" : dayName(deadline)),
        kind: "short",
      },
      count("Deliverables", ({ deliverables_open }) => deliverables_open),
      count("Hosts at work", ({ assignments_open }) => assignments_open, true),
      count("To pay", ({ payments_open }) => payments_open),
      count("To reach hosts", ({ payouts_open }) => payouts_open, true),
    ],
    campaigns.slice(0, campaignsMost),
    { source: "campaigns_owing", more: more > 0 ? numbers.count(more) : "" },
  );
}

const contentMost = 10;

export function contentSection({ report, numbers }: Telling): Html {
  const { content } = report;
  if (content.length === 0)
    return section(
      "content",
      "Content delivered",
      "",
      report.is_read.content
        ? html`<p>No file came into the library in this time.</p>\n`
        : html`<p>The content of this time was not read.</p>\n`,
    );
  const shown = content.slice(0, contentMost);
  const more = content.length - shown.length;
  const files = content.reduce((sum, one) => sum + one.files, 0);
  const table = pageTable<Delivered>(
    "Files that came into the library",
    [
      { title: "Host", cell: ({ host_username }) => name(host_username, "no host") },
      { title: "Newest", cell: ({ newest_filename }) => name(newest_filename, "no name"), spare: true },
      { title: "Files", cell: (row) => numbers.count(row.files), kind: "number" },
      { title: "Images", cell: ({ images }) => numbers.count(images), kind: "number", spare: true },
      { title: "Videos", cell: ({ videos }) => numbers.count(videos), kind: "number", spare: true },
      { title: "For a campaign", cell: ({ deliverables }) => numbers.count(deliverables), kind: "number" },
    ],
    shown,
    { source: "content", hideCaption: true, more: more > 0 ? numbers.count(more) : "" },
  );
  const lead = `${counted(files, "file", numbers.count)} of ${counted(content.length, "host", numbers.count)} came into the library.${restUnread(report.is_read.content)}`;
  return section("content", "Content delivered", lead, table);
}
