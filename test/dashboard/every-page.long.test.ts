/** Every page in a browser, with every problem at once: its layout at many widths, and the findings of axe. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BusyWorld, startBusyWorld } from './busy-world.ts';
import { launch, openPage, withoutBrowser } from './chromium.ts';
import { axeOf, type Look, layoutAt, layoutOf, onPages } from './judged-pages.ts';

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

const onEveryPage = (look: Look, find: (page: Page) => Promise<string[]>, paths = busy.paths) =>
  onPages(browser, busy.world.dashboard.url, paths, look, find);

/** The first of the addresses that differ in their filters alone. */
const eachPageOnce = (paths: readonly string[]) => [
  ...new Map(paths.toReversed().map((path) => [path.split('?')[0], path])).values(),
];

test.skipIf(withoutBrowser)(
  `at ${widths.join(', ')} pixels nothing overlaps, is cut off or scrolls sideways, and policies have room for their names`,
  async () => {
    expect(await onEveryPage({ width: 1440, colorScheme: 'light' }, layoutAt(widths))).toEqual([]);
  },
);

test.skipIf(withoutBrowser)(
  'the panels of the top bar and the drawer have room for what they show',
  async () => {
    const { url } = busy.world.dashboard;
    const page = await openPage(browser, url, '/', { viewport: { width: 390, height: 900 } });
    for (const name of [/^\d+ notices$/, /^Account: /, /^Signed in as/, /^Menu$/]) {
      await page.getByRole('button', { name }).click();
      // Only what is open: it lies over the page.
      await page.evaluate("document.querySelector('main').hidden = true");
      expect(await layoutOf(page)).toEqual([]);
      await page.keyboard.press('Escape');
    }
    await page.context().close();
  },
);

// Each layout and each theme once: what a theme colours does not depend on the width, and lists with other filters
// consist of the same parts.
test.skipIf(withoutBrowser)('axe finds nothing on any page at 1440 pixels, light', async () => {
  expect(await onEveryPage({ width: 1440, colorScheme: 'light' }, axeOf)).toEqual([]);
});

test.skipIf(withoutBrowser)(
  'axe finds nothing on any page at 390 pixels, dark, with one filter each',
  async () => {
    expect(await onEveryPage({ width: 390, colorScheme: 'dark' }, axeOf, eachPageOnce(busy.paths))).toEqual(
      [],
    );
  },
);
