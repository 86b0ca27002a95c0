/**
 * Every page in a browser, with every problem at once: its layout at many widths, and the findings of axe.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type BusyWorld, startBusyWorld } from './busy-world.ts';
import { launch, openPage, withoutBrowser } from './chromium.ts';
import { LAYOUT_FAULTS } from './layout-faults.ts';

// One test opens every page, and their number grows.
vi.setConfig({ testTimeout: 360_000 });

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

/** Those of devices, and the first of each layout. */
const widths = [390, 768, 834, 992, 1024, 1200, 1296, 1440, 1920];

/** Every page of a user who has signed in, and the sign-in page. Returns what `find` finds on each. */
async function onEveryPage(
  { width, colorScheme }: { width: number; colorScheme: 'light' | 'dark' },
  find: (page: Page) => Promise<string[]>,
): Promise<{ path: string; found: string[] }[]> {
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

/** The faults of the layout at every width. */
async function layoutOf(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    const found = await page.evaluate<string[]>(LAYOUT_FAULTS);
    faults.push(...found.map((fault) => `at ${width} px: ${fault}`));
  }
  return faults;
}

test.skipIf(withoutBrowser)(
  `at ${widths.join(', ')} pixels nothing overlaps, is cut off or scrolls sideways, and policies have room for their names`,
  async () => {
    expect(await onEveryPage({ width: 1440, colorScheme: 'light' }, layoutOf)).toEqual([]);
  },
);

test.skipIf(withoutBrowser)(
  'the panels of the top bar and the drawer have room for what they show',
  async () => {
    const { url } = busy.world.dashboard;
    const page = await openPage(browser, url, '/', { viewport: { width: 390, height: 900 } });
    for (const name of [/notices/, /^Account: /, /^Signed in as/, /^Menu$/]) {
      await page.getByRole('button', { name }).click();
      // Only what is open: it lies over the page.
      await page.evaluate("document.querySelector('main').hidden = true");
      expect(await page.evaluate<string[]>(LAYOUT_FAULTS)).toEqual([]);
      await page.keyboard.press('Escape');
    }
    await page.context().close();
  },
);

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Runs every rule of axe, including experimental ones, but not level AAA, which cannot be met throughout. */
const AXE_FINDINGS = `(async () => {
  for (const folded of document.querySelectorAll('details')) folded.open = true;
  const rules = axe.getRules().filter(({ tags }) => !tags.some((tag) => /aaa$|^deprecated$|^wcag2a-obsolete$/.test(tag)));
  const { violations } = await axe.run(document, {
    // bull-board is not ours.
    iframes: false,
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
