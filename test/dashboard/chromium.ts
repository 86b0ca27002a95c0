/** The browser of the tests, when one is installed. */
import { accessSync, constants } from 'node:fs';
import { get } from 'node:http';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import { sampleOf } from '../support/sample.ts';
import { PASSWORD, postForm, sessionOf } from './world.ts';

const executable = findChromium();

/** In CI a missing browser is a failure, not a reason to skip. */
export const withoutBrowser = executable === undefined && process.env['CI'] !== 'true';
if (withoutBrowser)
  process.stderr.write('SKIPPED: no chromium is installed, so the dashboard is not tried in a browser\n');

/** For a test of a browser beside tests that need none: `npm run test:long` opens the page, `npm test` does not. */
export const isInBrowser = (): boolean => !withoutBrowser && sampleOf(false, true);

/** The browser of the whole run (`browser-of-run.ts`), with contexts of one's own. Closing it ends those alone. */
export async function launch(): Promise<Browser> {
  const endpoint = await new Promise<string>((resolve, reject) => {
    const path = `/?executable=${encodeURIComponent(executable ?? 'chromium')}`;
    get({ socketPath: inject('browserSocket'), path }, (answer) => {
      text(answer).then(
        (body) => (answer.statusCode === 200 ? resolve(body) : reject(new Error(body))),
        reject,
      );
    }).on('error', reject);
  });
  return chromium.connect(endpoint);
}

/** The browser for the tests of a file, which calls this once; for those of `isInBrowser`, only where they are tried. */
export function browserOfFile(isNeeded: () => boolean = () => !withoutBrowser): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (isNeeded()) browser = await launch();
  });
  afterAll(() => browser?.close());
  return () => {
    if (!browser) throw new Error('The browser was not started.');
    return browser;
  };
}

/** A page of a user who has signed in, at an address. It is closed when the test ends. */
export async function openPage(
  browser: Browser,
  url: string,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ timezoneId: 'Asia/Tokyo', locale: 'en-GB', ...options });
  onTestFinished(() => context.close());
  const ask = (to: string, init?: RequestInit) => fetch(url + to, { redirect: 'manual', ...init });
  const session = sessionOf(await postForm(ask, url, '/sign-in', { password: PASSWORD }));
  const [name = '', value = ''] = session.split('=');
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }]);
  const page = await context.newPage();
  await page.goto(`${url}${path}`);
  return page;
}

/** The errors of a page, and its requests to other hosts than the dashboard: empty if there are none. */
export function complaintsOf(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (said) => {
    if (['error', 'warning'].includes(said.type())) complaints.push(`${page.url()}: ${said.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) complaints.push(`asked for ${url}`);
  });
  return complaints;
}

function findChromium(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
