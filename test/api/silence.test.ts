import { describe, expect, it } from "vitest";
import { Silence } from "../../src/api/silence.js";
import { FakeClock } from "./support.js";

const maxWaitMs = 10_000;

function start() {
  const clock = new FakeClock();
  const silence = new Silence(clock, maxWaitMs);
  /** A request that is sent now. */
  const ask = (path: string) => {
    const patient = silence.begin(path);
    patient.asks();
    return patient;
  };
  return { clock, silence, ask };
}

describe("the patience with an API that says nothing", () => {
  it("is used up by time, from the first request on", () => {
    const { ask, clock, silence } = start();
    const waiting = silence.begin("/orders");
    clock.pass(60_000);
    expect(waiting.leftMs()).toBe(maxWaitMs);
    const patient = ask("/orders");
    clock.pass(3_000);
    expect(patient.leftMs()).toBe(7_000);
    patient.failed();
    clock.pass(3_000);
    patient.asks();
    expect(patient.leftMs()).toBe(4_000);
  });

  it("is whole again after a word to anybody", () => {
    const { ask, clock } = start();
    const [one, other] = [ask("/orders"), ask("/orders")];
    one.failed();
    clock.pass(9_000);
    other.heard();
    expect(one.leftMs()).toBe(maxWaitMs);
    clock.pass(1_000);
    expect(one.leftMs()).toBe(9_000);
  });

  it("is not used up by what the program does between two requests", () => {
    const { ask, clock } = start();
    ask("/orders").heard();
    clock.pass(60_000);
    expect(ask("/orders").leftMs()).toBe(maxWaitMs);
  });

  it("is not used up by an answer that waits for its turn", () => {
    const { ask, clock } = start();
    const early = ask("/orders");
    early.heard();
    clock.pass(60_000);
    expect(ask("/orders").leftMs()).toBe(maxWaitMs);
    early.end();
  });

  it("is one for all who come while the silence lasts: whoever comes late gets a tenth", () => {
    const { ask, clock, silence } = start();
    const first = ask("/orders");
    first.failed();
    clock.pass(maxWaitMs);
    expect(first.leftMs()).toBe(0);
    first.end();
    const late = silence.begin("/roster");
    expect(late.leftMs()).toBe(1_000);
    clock.pass(5_000);
    late.asks();
    expect(late.leftMs()).toBe(1_000);
    clock.pass(1_000);
    expect(late.leftMs()).toBe(0);
  });

  it("begins anew where a request was called off before anything had failed", () => {
    const { ask, clock } = start();
    ask("/orders").end();
    clock.pass(60_000);
    expect(ask("/orders").leftMs()).toBe(maxWaitMs);
  });
});

describe("a silence is everywhere", () => {
  it.each([
    [["/orders"], false],
    [["/orders", "/orders"], false],
    [["/surveys", "/surveys/7/results"], false],
    [["/orders", "/roster"], true],
  ])("where %j were asked in vain: %s", (paths, expected) => {
    const { ask, silence } = start();
    for (const path of paths) ask(path).failed();
    expect(silence.isEverywhere).toBe(expected);
  });

  it("until there is a word", () => {
    const { ask, silence } = start();
    for (const path of ["/orders", "/roster"]) ask(path).failed();
    ask("/codes").heard();
    ask("/gifts").failed();
    expect(silence.isEverywhere).toBe(false);
  });
});
