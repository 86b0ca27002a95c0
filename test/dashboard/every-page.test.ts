/**
 * Every page in a browser, with every problem at once: its layout at many widths, and the findings of axe.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BusyWorld, startBusyWorld } from './busy-world.ts';
import { launch, openPage, withoutBrowser } from './chromium.ts';
import { LAYOUT_FAULTS } from './layout-faults.ts';

let browser: Browser;
let busy: BusyWorld;
beforeAll(async () => {
  if (withoutBrowser) return;
  [browser, busy] = await Promise.all([launch(), startBusyWorld()]);
});
afterAll(async () => {
  await browser?.close();
  await busy?.world.stop();
});

/**
 * Every page of a user who has signed in, and the sign-in page, at a size. Returns what `find` finds on each.
 */
async function onEveryPage(
  options: { width: number; colorScheme: 'light' | 'dark' },
  find: (page: Page) => Promise<string[]>,
): Promise<{ path: string; found: string[] }[]> {
  const { width, colorScheme } = options;
  const { url } = busy.world.dashboard;
  const page = await openPage(browser, url, '/', { viewport: { width, height: 900 }, colorScheme });
  const all: { path: string; found: string[] }[] = [];
  const look = async (path: string) => {
    await page.goto(`${url}${path}`);
    await page.waitForLoadState('load');
    const found = await find(page);
    if (found.length > 0) all.push({ path, found });
  };
  for (const path of busy.paths) await look(path);
  await page.context().clearCookies();
  await look('/sign-in');
  await page.context().close();
  return all;
}

const layoutOf = (page: Page): Promise<string[]> => page.evaluate<string[]>(LAYOUT_FAULTS);

test.skipIf(withoutBrowser).each([390, 768, 820, 834, 960, 1440])(
  'at %d pixels nothing overlaps, is cut off or scrolls sideways, and policies have room for their names',
  async (width) => {
    expect(await onEveryPage({ width, colorScheme: 'light' }, layoutOf)).toEqual([]);
  },
);

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Runs every rule of axe, including experimental ones, but not level AAA, which cannot be met throughout. */
const AXE_FINDINGS = `(async () => {
  for (const folded of document.querySelectorAll('details')) folded.open = true;
  const rules = axe.getRules().filter(({ tags }) => !tags.some((tag) => /aaa$|^deprecated$|^wcag2a-obsolete$/.test(tag)));
  const { violations } = await axe.run(document, {
    resultTypes: ['violations'],
    runOnly: { type: 'rule', values: rules.map(({ ruleId }) => ruleId) },
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => id + ': ' + target + ' ' + failureSummary.replace(/\\s+/g, ' ')));
})()`;

async function axeOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate<string[]>(AXE_FINDINGS);
}

test.skipIf(withoutBrowser).each([
  { width: 390, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
  { width: 1440, colorScheme: 'light' },
  { width: 1440, colorScheme: 'dark' },
] as const)('axe finds nothing on any page at $width pixels, $colorScheme', async (options) => {
  expect(await onEveryPage(options, axeOf)).toEqual([]);
});
