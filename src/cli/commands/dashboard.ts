import { hostname } from 'node:os';
import { hashOfKey, newSignInKey, signInLink } from '../../access/credentials.ts';
import { dashboardUrl, signsInWithLink } from '../../settings/settings.ts';
import { type GlobalOptions, hasRecords, settingsOf, withRecords } from '../context.ts';
import { exit } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';

const LINK_KEPT_MS = 10 * 60_000;

/**
 * Prints the addresses of the dashboards that run on this Redis. Where people sign in with a link, each is a new one: who
 * has access to Redis may do everything anyway.
 */
export async function dashboard(terminal: Terminal, options: GlobalOptions): Promise<number> {
  const settings = settingsOf(terminal, options);
  const { dashboard: own } = settings;
  const hasLink = signsInWithLink(own.password, settings.access);
  const found = hasRecords(settings)
    ? await withRecords(terminal, options, settings, async ({ records, clock }) => {
        const running = await records.presence.running(clock.now());
        const shown: { url: string; host: string }[] = [];
        for (const { host, dashboardPort } of running) {
          if (dashboardPort === undefined) continue;
          const url = dashboardUrl(own.host, dashboardPort);
          if (!hasLink) {
            shown.push({ host, url: own.publicUrl ?? url });
            continue;
          }
          const key = newSignInKey();
          await records.presence.offerSignIn(hashOfKey(key), LINK_KEPT_MS);
          shown.push({ host, url: signInLink(own.publicUrl ?? url, key) });
        }
        return shown;
      })
    : [];
  if (found.length === 0) {
    terminal.message('error: No dashboard is running on this Redis. "caretaker daemon" starts one.');
    return exit.notAllWell;
  }
  for (const { url, host } of found)
    terminal.data(host === hostname() ? url : `${url} (on ${host})`, 'values-only');
  terminal.message(
    hasLink
      ? `${found.length === 1 ? 'The link works' : 'Each link works'} once, within 10 minutes${own.publicUrl === undefined ? ', on the machine of the dashboard' : ''}.`
      : 'Sign in with the name and password that the configuration has, or at the issuer.',
  );
  return exit.ok;
}
