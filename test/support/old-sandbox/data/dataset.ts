import { type Analytics, createAnalytics } from "./analytics.js";
import { type Campaign, createCampaigns } from "./campaigns.js";
import { type ContentItem, createLibrary } from "./library.js";
import { createOrderBook, type OrderBook } from "./order-book.js";
import { createRecommenders, type Recommender } from "./recommendations.js";
import { createRoster, type Relationship } from "./roster.js";
import { createSalesBook, type Revenue } from "./sales.js";
import {
  createCode,
  createGift,
  createSurvey,
  type IdForm,
  type OpenRecord,
  openCounts,
} from "./undocumented.js";
import { createWorld, type World } from "./world.js";

/** All that one brand has. Everything but the orders is small enough to be held, and changed in place by events. */
export interface Dataset {
  world: World;
  orders: OrderBook;
  campaigns: Campaign[];
  roster: Relationship[];
  library: ContentItem[];
  recommenders: Recommender[];
  gifts: OpenRecord[];
  codes: OpenRecord[];
  surveys: OpenRecord[];
  analytics: Analytics;
}

export interface DatasetOptions {
  seed: number;
  name: string;
  orders: number;
  anchor: number;
  ids: IdForm;
  revenue: Revenue;
  /** Up to when the data has come: the anchor, and later as time passes. */
  now(): number;
}

export function createDataset(options: DatasetOptions): Dataset {
  const world = createWorld(options.seed, options.name, options.orders, options.anchor);
  const orders = createOrderBook(world);
  const campaigns = createCampaigns(world);
  const open = (count: number, create: (world: World, form: IdForm, place: number) => OpenRecord) =>
    Array.from({ length: count }, (_, place) => create(world, options.ids, place));
  return {
    world,
    orders,
    campaigns,
    roster: createRoster(world),
    library: createLibrary(world, campaigns),
    recommenders: createRecommenders(world),
    gifts: open(openCounts.gifts, createGift),
    codes: open(openCounts.codes, createCode),
    surveys: open(openCounts.surveys, createSurvey),
    analytics: createAnalytics(world, orders, createSalesBook(orders, options.revenue), options.now),
  };
}
