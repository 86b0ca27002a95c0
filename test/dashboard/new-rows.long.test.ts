/**
 * A live list that somebody reads further down: new rows wait, and rows that changed are marked. Each test adds runs
 * of its own to the same list.
 */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aTarget } from '../support/builders.ts';
import { findIn } from '../support/findings.ts';
import { browserOfFile, complaintsOf, openPage, withoutBrowser } from './chromium.ts';
import { aPolicy, aRun, remember, startWorld, type World } from './world.ts';

const browser = browserOfFile();
let world: World;
beforeAll(async () => {
  if (withoutBrowser) return;
  world = await startWorld({ policies: () => [aPolicy('stale-backups')] });
  for (let at = 1; at <= OLDEST; at += 1) await addRun(`sync.${at}`, at);
});
afterAll(() => world?.stop());

/** Of the oldest run, minutes ago. */
const OLDEST = 50;

/** The list of so many runs, as somebody sees it who has scrolled to its end. */
async function readTheEnd(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await openPage(browser(), world.dashboard.url, '/runs', {
    viewport: { width: 1440, height: 600 },
    ...options,
  });
  await page.getByRole('link', { name: 'sync.30' }).scrollIntoViewIfNeeded();
  return page;
}
const addRun = (id: string, minutesAgo = 0): Promise<void> =>
  remember(world.records, aRun({ id, createdAt: Date.now() - minutesAgo * 60_000 }), [aTarget('a')]);

const linkOf = (page: Page, id: string) => page.getByRole('link', { name: id, exact: false });

test.skipIf(withoutBrowser)(
  'new runs wait behind a button while the head of the list is out of sight, and nothing moves',
  async () => {
    const page = await readTheEnd();
    const complaints = complaintsOf(page, world.dashboard.url);
    const row = linkOf(page, 'sync.30');
    const before = await row.boundingBox();

    await addRun('new.1');
    await page.getByRole('button', { name: '1 new runs: show them' }).waitFor();
    await addRun('new.2');
    const button = page.getByRole('button', { name: '2 new runs: show them' });
    await button.waitFor();

    expect(await button.textContent()).toBe('2 new');
    expect(await row.boundingBox()).toEqual(before);
    expect(await linkOf(page, 'new.1').count()).toBe(0);
    // The page of the list is full, and what the new ones push off its end stays for as long.
    expect(await linkOf(page, `sync.${OLDEST}`).count()).toBe(1);

    await button.click();
    await linkOf(page, 'new.2').waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    expect(await page.locator('tbody tr').count()).toBe(50);
    expect(await page.locator('tbody tr').first().getAttribute('data-key')).toBe('new.2');
    await button.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  },
);

test.skipIf(withoutBrowser)(
  'who goes back to the head of the list sees the new runs there, and the key n shows them too',
  async () => {
    const page = await readTheEnd();
    await addRun('newer.1');
    await page.getByRole('button', { name: '1 new runs: show them' }).waitFor();

    await page.evaluate('scrollTo(0, 0)');
    await linkOf(page, 'newer.1').waitFor();
    expect(await page.locator('#new-rows button').count()).toBe(0);
    // There, new runs are added at once.
    await addRun('newest.1');
    await linkOf(page, 'newest.1').waitFor();
    expect(await page.locator('#new-rows button').count()).toBe(0);

    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await addRun('newer.2');
    await page.getByRole('button', { name: '1 new runs: show them' }).waitFor();
    await page.keyboard.press('n');
    await linkOf(page, 'newer.2').waitFor();
    expect(await page.evaluate('document.activeElement.closest("tr").dataset.key')).toBe('newer.2');
  },
);

test.skipIf(withoutBrowser)('new findings wait in the same way, wherever they are in the list', async () => {
  const old = Array.from({ length: 40 }, (_, at) => ({ target: `old-${at}` }));
  await findIn(world.records, { at: Date.now() - 3_600_000, found: old });
  const page = await openPage(browser(), world.dashboard.url, '/findings', {
    viewport: { width: 1440, height: 600 },
  });
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');

  await findIn(world.records, { at: Date.now(), found: [...old, { target: 'fresh' }] });

  await page.getByRole('button', { name: '1 new findings: show them' }).click();
  await page.getByRole('link', { name: 'fresh.example', exact: true }).first().waitFor();
});

/** The rows whose colour is on its way back, by their key. */
const marked = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('tbody tr')].filter((row) => row.getAnimations().length > 0).map((row) => row.dataset.key)`,
  );
/** Keeps the animations of rows from ending, so that a test can look at them at any time. */
const HOLD = `Element.prototype.animate = ((animate) => function (...given) {
  const animation = animate.apply(this, given);
  animation.pause();
  return animation;
})(Element.prototype.animate)`;

test.skipIf(withoutBrowser)('a run that changed in place is marked, and the others are not', async () => {
  const page = await readTheEnd();
  await page.evaluate(HOLD);

  await world.records.runs.move(aRun({ id: 'sync.30' }), 'blocked', { at: Date.now() });

  await expect.poll(() => marked(page), { timeout: 30_000 }).toEqual(['sync.30']);
});

test.skipIf(withoutBrowser)('nothing is marked for somebody who asked for less motion', async () => {
  const page = await readTheEnd({ reducedMotion: 'reduce' });
  await page.evaluate(HOLD);

  await world.records.runs.move(aRun({ id: 'sync.29' }), 'blocked', { at: Date.now() });

  await page.getByRole('link', { name: 'blocked sync.29' }).waitFor();
  expect(await marked(page)).toEqual([]);
});
