import { writeFileSync } from "node:fs";
import { test } from "vitest";
import { openBrowser } from "../support/browser.js";
test("shots", async () => {
  const b = await openBrowser();
  const file = process.env.SHOT_FILE ?? "/tmp/report-demo/report.html";
  const tag = process.env.SHOT_TAG ?? "demo";
  const want = (process.env.SHOT_WANT ?? "w1280").split(",");
  for (const [n, look] of Object.entries({ w375: { width: 375, height: 900 }, w768: { width: 768, height: 1400 }, w1280: { width: 1280, height: 1700 }, dark: { width: 1280, height: 1700, dark: true }, print: { width: 680, height: 1300, print: true } })) {
    if (!want.includes(n)) continue;
    await b.open(file, look as never);
    const total = await b.ask<number>("document.documentElement.scrollHeight");
    for (const [i, y] of (process.env.SHOT_AT ?? "0").split(",").map(Number).entries()) {
      await b.ask(`window.scrollTo(0, ${y}); 0`);
      writeFileSync(`/tmp/shot-${tag}-${n}-${i}.png`, await b.png({ whole: false }));
    }
    console.log(n, total);
  }
  await b.close();
}, 60000);
