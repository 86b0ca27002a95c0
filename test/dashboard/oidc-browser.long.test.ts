/** Sign-in at a real issuer (oidc-provider) in a real browser, for which the issuer is another site than the dashboard. */
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { noAccess } from '../../src/access/access.ts';
import { CLIENT, type Issuer, startIssuer } from '../support/oidc-issuer.ts';
import { browserOfFile, withoutBrowser } from './chromium.ts';
import { aPolicy, aRun, remember, startWorld, type World } from './world.ts';

const browser = browserOfFile();
let issuer: Issuer;
let world: World;
beforeEach(async () => {
  issuer = await startIssuer('localhost');
  world = await startWorld({
    policies: () => [aPolicy('sync')],
    password: null,
    access: () => ({
      ...noAccess,
      oidc: {
        issuer: issuer.url,
        clientId: CLIENT.id,
        clientSecret: CLIENT.secret,
        scopes: ['openid', 'profile', 'email'],
        claims: [
          { claim: 'groups', value: 'staff', grants: [{ role: 'viewer' }] },
          { claim: 'groups', value: 'ops', grants: [{ role: 'operator', policies: ['sync'] }] },
        ],
      },
    }),
  });
  const { url } = world.dashboard;
  issuer.register(`${url}/sign-in/oidc/callback`, `${url}/sign-in`);
});
afterEach(async () => {
  await world.stop();
  await issuer.stop();
});

/** A page of a browser of its own; the pages of the issuer get no fonts from elsewhere. */
async function newPage(): Promise<Page> {
  const context = await browser().newContext();
  onTestFinished(() => context.close());
  await context.route(/^https:/, (route) => route.abort());
  return context.newPage();
}

const startWithIssuer = (page: Page) =>
  page.getByText(`Sign in with ${new URL(issuer.url).host}`, { exact: false }).click();

/** The button in the top bar that says who has signed in. */
const userMenu = (page: Page, name: string) =>
  page.getByRole('button', { name: `Signed in as ${name}: menu` });

/** On the pages of the issuer, as this person, who agrees to everything. */
async function signInThere(page: Page, sub: string): Promise<void> {
  await page.waitForURL(`${issuer.url}/**`);
  await page.locator('input[name=login]').fill(sub);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
  await page.locator('button[type=submit]').click();
}

test.skipIf(withoutBrowser)(
  'a person signs in at the issuer, has the roles of their groups, and signs out',
  async () => {
    await remember(world.records, aRun({ id: 'sync.active', policy: 'sync' }), []);
    issuer.claims.set('ben', { groups: ['staff', 'ops'], email: 'ben@agency.example', email_verified: true });
    const page = await newPage();
    const to = `${world.dashboard.url}/runs/sync.active`;

    await page.goto(to);
    await startWithIssuer(page);
    await signInThere(page, 'ben');
    await page.waitForURL(to);

    await userMenu(page, 'ben@agency.example').waitFor();
    // What an operator may do, and not what an approver may.
    await page.goto(`${world.dashboard.url}/policies/sync`);
    await page.getByRole('link', { name: /^Pause/ }).click();
    await page.getByLabel(/^Reason/).fill('a new theme');
    await page.getByRole('button', { name: 'Pause sync' }).click();
    await page.getByText('a new theme').first().waitFor();
    expect((await world.records.policies.state('sync')).pause).toMatchObject({ by: 'ben@agency.example' });
    expect((await page.goto(`${to}/approve`))?.status()).toBe(403);

    await page.goto(world.dashboard.url);
    await userMenu(page, 'ben@agency.example').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${issuer.url}/session/end**`);
    await page.getByRole('button', { name: /yes/i }).click();
    await page.waitForURL(`${world.dashboard.url}/sign-in**`);
    // Neither here nor there is a session left: the issuer asks who it is again.
    await page.goto(to);
    await startWithIssuer(page);
    await page.locator('input[name=login]').waitFor();
    expect(world.signIns).toMatchObject([{ name: 'ben@agency.example', ok: true }]);
  },
);
