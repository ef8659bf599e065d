import { drawPerson, type Person } from "./people.js";
import { chance, draws, pick, topics, uuid } from "./random.js";

/** A host of the platform whom the brand has met: on the roster now, once, or not yet. */
export interface Host extends Person {
  id: string;
  photo: string | null;
  /** The rate agreed with this host, percentage; null: the brand's default. */
  customRate: number | null;
  /** How many sales and clicks come from this host, compared with others. */
  weight: number;
}

/** The base host object: API document, "Host". */
export interface HostRecord {
  id: string;
  username: string | null;
  first_name: string | null;
  last_name: string | null;
  profile_photo: string | null;
}

/** The profile shape of roster and recommendations. */
export interface HostProfile extends HostRecord {
  title: string | null;
  intro: string | null;
  discipline: string | null;
  specialty: string | null;
  location: string | null;
  socials: Record<string, string> | null;
}

/** The content item's own shape. */
export interface ContentHost {
  id: string;
  username: string | null;
  name: string | null;
}

export const hostCount = 130;

export function createHosts(seed: number): Host[] {
  return Array.from({ length: hostCount }, (_, place) => createHost(seed, place));
}

export function createHost(seed: number, place: number): Host {
  const d = draws(seed, topics.host, place);
  const person = drawPerson(d, place);
  const id = uuid(seed, topics.hostId, place);
  return {
    ...person,
    id,
    photo: chance(d, 0.1) ? null : `https://images.example.com/hosts/${id}.jpg`,
    customRate: chance(d, 0.3) ? pick(d, [5, 7.5, 8, 10, 12.5, 15, 18, 20]) : null,
    weight: pick(d, [1, 1, 2, 3, 5, 8]),
  };
}

export function hostRecord(host: Host): HostRecord {
  return {
    id: host.id,
    username: host.username,
    first_name: host.firstName,
    last_name: host.lastName,
    profile_photo: host.photo,
  };
}

export function hostProfile(host: Host): HostProfile {
  return {
    ...hostRecord(host),
    title: host.title,
    intro: host.intro,
    discipline: host.discipline,
    specialty: host.specialty,
    location: host.location,
    socials: host.socials,
  };
}

export function contentHost(host: Host): ContentHost {
  const name = [host.firstName, host.lastName].filter((part) => part !== null).join(" ");
  return { id: host.id, username: host.username, name: name === "" ? null : name };
}
