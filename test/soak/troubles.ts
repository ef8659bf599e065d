import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import type { Fault, Sandbox } from "../support/old-sandbox/index.js";

/** The machine that the nights are of, and its API. */
export interface Machine {
  box: Sandbox;
  /** The folder of the mirror where it is a disk of its own, which can be made small; null where none can be mounted. */
  disk: string | null;
  /** Starts a sync that a person began some minutes before, and waits until it has asked for orders. */
  startOther(): Promise<{ ended: Promise<unknown> }>;
}

/** Ends a trouble. */
export type Mend = () => void | Promise<void>;

export interface Trouble {
  what: string;
  begin?(machine: Machine, at: number): Mend | Promise<Mend>;
  /** How far this machine's clock is ahead. */
  aheadMs?: number;
  /** The machine is off at night: no sync is begun. */
  isOff?: boolean;
}

const hour = 3_600_000;
const day = 24 * hour;
const roomyKb = 65_536;

/** Two weeks of nights, and two more. */
export const troubles: readonly Trouble[] = [
  { what: "the first night" },
  { what: "an ordinary night" },
  { what: "the API is away", begin: ({ box }) => answers(box, () => ({ kind: "reset", when: "before" })) },
  { what: "it is back" },
  {
    what: "one endpoint answers 503",
    begin: ({ box }) =>
      answers(box, (path) => (path.endsWith("/roster") ? { kind: "status", status: 503 } : undefined)),
  },
  {
    what: "the plan has lapsed",
    begin({ box }) {
      box.setKey("all", { plan: false });
      return () => box.setKey("all", { plan: true });
    },
  },
  { what: "it is paid again" },
  { what: "another run is under way", begin: holdMirror },
  { what: "the disk is full", begin: fillDisk },
  { what: "there is room again" },
  { what: "the laptop sleeps", isOff: true },
  { what: "it is awake again" },
  { what: "the clock is a day ahead", aheadMs: day },
  { what: "the clock is right again" },
  { what: "the key expires in the evening", begin: ({ box }, at) => keyUntil(box, at + 14 * hour) },
  { what: "it has expired" },
];

/** A disk of its own for a folder; null where this machine does not let us make one. */
export function mountDisk(folder: string): string | null {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${roomyKb}k,mode=700`, "none", folder]);
  return status === 0 ? folder : null;
}

function answers(box: Sandbox, fault: (path: string) => Fault | undefined): Mend {
  box.intercept = ({ path }) => fault(path);
  return () => {
    box.intercept = undefined;
  };
}

function keyUntil(box: Sandbox, expiresAt: number): Mend {
  box.setKey("all", { expiresAt });
  return () => {};
}

async function holdMirror({ box, startOther }: Machine): Promise<Mend> {
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    box.intercept = async ({ path }) => {
      if (!path.endsWith("/orders")) return undefined;
      resolve();
      await held;
      return undefined;
    };
  });
  const other = await startOther();
  await asked;
  return async () => {
    box.intercept = undefined;
    goOn();
    await other.ended;
  };
}

/** Leaves the disk as large as what lies on it. */
function fillDisk({ disk }: Machine): Mend {
  if (disk === null) throw new Error("no disk can be mounted here");
  const { stdout } = spawnSync("df", ["-k", "--output=used", disk], { encoding: "utf8" });
  const used = Number(stdout.trim().split("\n").at(-1));
  const resize = (kilobytes: number) => spawnSync("mount", ["-o", `remount,size=${kilobytes}k`, disk]);
  resize(used + 64);
  return () => void resize(roomyKb);
}
