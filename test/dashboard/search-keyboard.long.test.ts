/** The search with the keyboard, in a browser. */
import { expect, onTestFinished, test } from 'vitest';
import { workedOn } from '../support/worked-on.ts';
import { browserOfFile, complaintsOf, openPage, withoutBrowser } from './chromium.ts';
import { aPolicy, aRun, ended, startWorld } from './world.ts';

const browser = browserOfFile();

test.skipIf(withoutBrowser)(
  'a slash leads to the search, and Enter opens the first suggestion, or the chosen one',
  async () => {
    const world = await startWorld({ policies: () => [aPolicy('bakery-sync'), aPolicy('monthly-reports')] });
    onTestFinished(world.stop);
    const site = ended('site-0048', 'succeeded', { label: 'https://harbour-bakery.example' });
    await workedOn(world.records, aRun({ createdAt: Date.now() }), [site]);
    const { url } = world.dashboard;
    const page = await openPage(browser(), url, '/', { viewport: { width: 1440, height: 900 } });
    const complaints = complaintsOf(page, url);

    // Suggestions of the first letters come, too, when typing takes long.
    const typeAll = () =>
      Promise.all([page.waitForResponse(/suggestions\?q=bakery$/), page.keyboard.type('bakery')]);

    await page.keyboard.press('/');
    await typeAll();
    await page.getByRole('option', { name: 'bakery-sync' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/policies/bakery-sync`);

    await page.keyboard.press('Control+k');
    await typeAll();
    await page.getByRole('option', { name: 'harbour-bakery' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('[role=option][aria-selected=true]').textContent()).toContain('harbour-bakery');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/targets/default/site-0048`);

    // The page of the results, without waiting for suggestions.
    await page.goto(`${url}/search?q=reports`);
    await page.locator('a:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/policies/monthly-reports`);
    expect(complaints).toEqual([]);
  },
);
