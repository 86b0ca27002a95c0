/** A time between two others is chosen on the page of the schedule with the mouse. */
import { expect, onTestFinished, test } from 'vitest';
import { aSchedule } from '../support/builders.ts';
import { heldClock } from '../support/held-clock.ts';
import { browserOfFile, complaintsOf, openPage, withoutBrowser } from './chromium.ts';
import { aPolicy, startWorld } from './world.ts';

const browser = browserOfFile();

test.skipIf(withoutBrowser)(
  'dragging over the day asks for that time, and the address holds it',
  async () => {
    const schedule = aSchedule({ cron: ['0 20 * * *'] });
    // Tuesday noon.
    const clock = heldClock(Date.UTC(2026, 10, 24, 12));
    const world = await startWorld({ clock, policies: () => [aPolicy('sync', { schedule })] });
    onTestFinished(world.stop);
    const page = await openPage(browser(), world.dashboard.url, '/schedule?zone=Asia%2FTokyo&day=2026-11-25');
    const complaints = complaintsOf(page, world.dashboard.url);
    const lane = page.locator('.day-lanes svg').first();
    await lane.scrollIntoViewIfNeeded();
    const chart = await lane.boundingBox();
    if (!chart) throw new Error('There is no chart.');
    await page.mouse.move(chart.x + chart.width / 4, chart.y + 5);
    await page.mouse.down();
    await page.mouse.move(chart.x + chart.width / 3, chart.y + 8, { steps: 3 });
    expect(await page.locator('.range-mark').isVisible()).toBe(true);
    await Promise.all([page.waitForURL(/from=/), page.mouse.up()]);

    expect(new URL(page.url()).searchParams.get('from')).toBe('2026-11-24T21:00Z');
    expect(await page.locator('#range-from').inputValue()).toBe('2026-11-25 06:00');
    expect(await page.locator('#range-to').inputValue()).toBe('2026-11-25 08:00');
    expect(await page.locator('#range').innerText()).toContain('Wed 25 Nov 06:00 to 08:00');
    expect(complaints).toEqual([]);
  },
);
