/** Opens pages in the browser and judges what is drawn: the layout, the findings of axe, and the console. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { complaintsOf, openPage } from './chromium.ts';
import { LAYOUT_FAULTS } from './layout-faults.ts';

/**
 * Opens pages as a user who has signed in, then the sign-in page. Returns what `find` finds on each, with errors of the
 * console and requests to other hosts.
 */
export async function onPages(
  browser: Browser,
  url: string,
  paths: readonly string[],
  find: (page: Page, path: string) => Promise<string[]>,
): Promise<{ path: string; found: string[] }[]> {
  const [first = '/', ...others] = paths;
  const page = await openPage(browser, url, first);
  const complaints = complaintsOf(page, url);
  const all: { path: string; found: string[] }[] = [];
  const judge = async (path: string) => {
    await page.waitForLoadState('load');
    // A page that does not exist, or asks for what it may not have, is an answer with an error.
    const said = complaints.splice(0).filter((one) => !/status of 40[0-9]/.test(one));
    const found = [...(await find(page, path)), ...said];
    if (found.length > 0) all.push({ path, found });
  };
  await judge(first);
  for (const path of others) {
    await page.goto(`${url}${path}`);
    await judge(path);
  }
  await page.context().clearCookies();
  await page.goto(`${url}/sign-in`);
  await judge('/sign-in');
  await page.context().close();
  return all;
}

/** The faults of the layout at the width of the page. */
export const layoutOf = (page: Page): Promise<string[]> => page.evaluate<string[]>(LAYOUT_FAULTS);

/** 6,000, and more for texts that are longer than any real one. Lists show their other rows on demand. */
const MAX_PHONE_HEIGHT = 9_000;

/** The faults of the layout at each of these widths. */
export async function layoutAt(page: Page, widths: readonly number[]): Promise<string[]> {
  const faults: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    faults.push(...(await layoutOf(page)).map((fault) => `at ${width} px: ${fault}`));
    const height = await page.evaluate<number>('document.documentElement.scrollHeight');
    if (width < 768 && height > MAX_PHONE_HEIGHT)
      faults.push(`at ${width} px: the page is ${height} px high.`);
  }
  return faults;
}

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

export interface Look {
  width: number;
  colorScheme: 'light' | 'dark';
}

/** What axe finds on a page with each of these looks. */
export async function axeAt(page: Page, looks: readonly Look[]): Promise<string[]> {
  await page.evaluate(axe);
  const findings: string[] = [];
  for (const { width, colorScheme } of looks) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const found = await page.evaluate<string[]>(AXE_FINDINGS);
    findings.push(...found.map((finding) => `at ${width} px, ${colorScheme}: ${finding}`));
  }
  return findings;
}
