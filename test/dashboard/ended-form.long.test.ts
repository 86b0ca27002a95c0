/** A form that is sent in a browser when its session has ended. */
import { expect, onTestFinished, test } from 'vitest';
import { noAccess } from '../../src/access/access.ts';
import { browserOfFile, openPage, withoutBrowser } from './chromium.ts';
import { aPolicy, PASSWORD, startWorld } from './world.ts';

const browser = browserOfFile();

test.skipIf(withoutBrowser)(
  'a dialog that was open when its session ended leads to sign-in and back, though its page knows of the end',
  async () => {
    let idleMs = 3_600_000;
    const access = () => ({ ...noAccess, sessions: { ...noAccess.sessions, idleMs } });
    const world = await startWorld({ access, policies: () => [aPolicy('nightly-sync')] });
    onTestFinished(world.stop);
    const page = await openPage(browser(), world.dashboard.url, '/policies');
    await page.getByRole('link', { name: 'Pause nightly-sync' }).click();
    await page.getByLabel('Reason').fill('Migration');

    idleMs = 1;
    await page.getByText('Your session has ended.').waitFor();
    await page.getByRole('button', { name: 'Pause nightly-sync' }).click();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    idleMs = 3_600_000;
    await page.getByRole('button', { name: 'Sign in' }).click();

    await page.getByText('Check what you typed, and send it again.').waitFor();
    expect(await page.getByLabel('Reason').inputValue()).toBe('Migration');
    expect((await world.records.policies.state('nightly-sync')).pause).toBeUndefined();
  },
);
