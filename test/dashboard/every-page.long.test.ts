/** Every page in a browser, with every problem at once: its layout at many widths, and the findings of axe. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BusyWorld, startBusyWorld } from './busy-world.ts';
import { browserOfFile, openPage, withoutBrowser } from './chromium.ts';
import { axeAt, type Look, layoutAt, layoutOf, onPages } from './judged-pages.ts';

const browser = browserOfFile();
let busy: BusyWorld;
beforeAll(async () => {
  if (!withoutBrowser) busy = await startBusyWorld();
});
afterAll(() => busy?.world.stop());

/** Those of devices, and the first of each layout. */
const widths = [390, 768, 834, 992, 1024, 1200, 1296, 1440, 1920];
/** For lists with other filters, which consist of the same parts. */
const fewWidths = [390, 834, 1440];

/** Each layout and each theme once: what a theme colours does not depend on the width. */
const wide: Look = { width: 1440, colorScheme: 'light' };
const narrow: Look = { width: 390, colorScheme: 'dark' };

// A page is opened once for all of it, because that takes longer than to judge it.
test.skipIf(withoutBrowser)(
  `at ${widths.join(', ')} pixels nothing overlaps, is cut off or scrolls sideways, and axe finds nothing in light and dark`,
  // Some ninety pages.
  { timeout: 600_000 },
  async () => {
    const { world, paths } = busy;
    const judged = new Set<string>();
    const found = await onPages(browser(), world.dashboard.url, paths, async (page, path) => {
      const address = path.split('?')[0] ?? path;
      const isKnown = judged.has(address);
      judged.add(address);
      // First the layout: axe opens what is folded.
      return [
        ...(await layoutAt(page, isKnown ? fewWidths : widths)),
        ...(await axeAt(page, isKnown ? [wide] : [wide, narrow])),
      ];
    });
    expect(found).toEqual([]);
  },
);

test.skipIf(withoutBrowser)(
  'the panels of the top bar and the drawer have room for what they show',
  async () => {
    const { url } = busy.world.dashboard;
    const page = await openPage(browser(), url, '/', { viewport: { width: 390, height: 900 } });
    for (const name of [/^\d+ notices$/, /^Account: /, /^Signed in as/, /^Menu$/]) {
      await page.getByRole('button', { name }).click();
      // Only what is open: it lies over the page.
      await page.evaluate("document.querySelector('main').hidden = true");
      expect(await layoutOf(page)).toEqual([]);
      await page.keyboard.press('Escape');
    }
  },
);
