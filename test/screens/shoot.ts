/** Takes the pictures. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from '../dashboard/chromium.ts';
import { PASSWORD } from './agency.ts';
import type { ScreenPage } from './pages.ts';

export interface Shots {
  folder: string;
  widths: readonly number[];
  schemes: readonly ('light' | 'dark')[];
  /** Only the first screen, 900 pixels high, instead of the whole page. */
  firstScreen: boolean;
  /** The time that the browser shows. */
  now: number;
  user: string;
}

/** Returns the errors of the pages. */
export async function shoot(url: string, pages: readonly ScreenPage[], shots: Shots): Promise<string[]> {
  const browser = await launch();
  const errors: string[] = [];
  try {
    for (const colorScheme of shots.schemes) {
      for (const width of shots.widths) {
        const folder = join(shots.folder, `${width}-${colorScheme}`);
        mkdirSync(folder, { recursive: true });
        const context = await browser.newContext({
          viewport: { width, height: 900 },
          colorScheme,
          timezoneId: 'Europe/Berlin',
          locale: 'en-GB',
        });
        const page = await context.newPage();
        await page.clock.setFixedTime(shots.now);
        page.on('pageerror', ({ message }) => errors.push(`${page.url()}: ${message}`));
        await page.goto(`${url}/sign-in`);
        const picture = async ({ name, path }: ScreenPage) => {
          await page.goto(url + path, { waitUntil: 'load' });
          // The page of bull-board reads the queues by itself.
          for (const frame of page.frames()) await frame.getByText(/^Loading/).waitFor({ state: 'hidden' });
          await page.screenshot({
            path: join(folder, `${name}.png`),
            fullPage: !shots.firstScreen,
            animations: 'disabled',
          });
        };
        for (const one of pages.filter(({ path }) => path === '/sign-in')) await picture(one);
        await page.getByLabel('Name').fill(shots.user);
        await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.waitForURL((address) => !address.pathname.startsWith('/sign-in'));
        for (const one of pages.filter(({ path }) => path !== '/sign-in')) await picture(one);
        await context.close();
      }
    }
  } finally {
    await browser.close();
  }
  return errors;
}
