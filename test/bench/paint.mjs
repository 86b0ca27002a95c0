/** When a browser shows the first text of each page. Without a browser there are no such figures. */
import { execFileSync } from 'node:child_process';
import { chromium } from 'playwright-core';

const TIMES = 5;
const names = ['chromium', 'chromium-browser', 'google-chrome'];
const args =
  '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync';

function installed() {
  for (const name of names) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      // The next one.
    }
  }
  return undefined;
}

/** The median of five views after a first one, from the click to the first text, in ms. */
export async function firstPaints(address, pages, cookie) {
  const executablePath = installed();
  if (!executablePath) {
    process.stderr.write('No Chromium is installed, so the first paint is not measured.\n');
    return {};
  }
  const browser = await chromium.launch({ executablePath, args: args.split(' ') });
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const at = cookie.indexOf('=');
    await context.addCookies([{ name: cookie.slice(0, at), value: cookie.slice(at + 1), url: address }]);
    const page = await context.newPage();
    const figures = {};
    for (const [name, path] of Object.entries(pages)) {
      const times = [];
      for (let time = 0; time <= TIMES; time += 1) {
        const answer = await page.goto(address + path);
        if (answer.status() === 404) break;
        const ms = await page.evaluate(firstPaint);
        if (time > 0) times.push(ms);
      }
      if (times.length > 0)
        figures[`${name}, first paint (ms)`] = times.sort((a, b) => a - b)[Math.floor(TIMES / 2)];
    }
    return figures;
  } finally {
    await browser.close();
  }
}

/** In the page. */
const firstPaint = () =>
  new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries())
        if (name === 'first-contentful-paint') resolve(startTime);
    }).observe({ type: 'paint', buffered: true });
  });
