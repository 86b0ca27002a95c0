/** The last part of the demo: five days of updates in rings, in an account of its own, in a few seconds. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCaretaker } from '../../app/caretaker.ts';
import { systemClock } from '../../clock.ts';
import { ringsOf } from '../../control/commands/rings.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import type { Settings } from '../../settings/settings.ts';
import { commandLog, type GlobalOptions, policiesOf } from '../context.ts';
import type { Terminal } from '../output/terminal.ts';
import { watchRun } from '../watch-run.ts';
import { printRings } from './rings.ts';

const SITES = 40;
const HOUR = 3_600_000;
/** On other days there are other updates: whenever one tries it, it shows the same. */
const BEGINS_AT = Date.parse('2026-11-22T12:00:00Z');

const POLICY = `policies:
  - name: safe-updates
    description: Updates reach a few sites first, and the others when they have proven themselves
    job: update-rings
    schedule: { cron: "0 * * * *" }
    with:
      rings:
        - { name: canary, where: 'site.server.php_version.startsWith("8.3")' }
        - { name: early, percent: 50% }
        - { name: rest }
      native: { at: "02:00", backup: false }
`;
/** A version that breaks the sites with an older PHP, of which none is a canary. */
const BAD = { filename: 'contact-form/contact-form.php', afterMs: HOUR, php: '7' };

/** Returns whether the rings ended as they should: one was promoted, and the last is held. */
export async function demoRings(
  terminal: Terminal,
  options: GlobalOptions,
  settingsFor: (service: Sandbox, folder: string) => Settings,
): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'caretaker-demo-rings-'));
  let aheadMs = BEGINS_AT - systemClock.now();
  const clock = { now: () => systemClock.now() + aheadMs, sleep: systemClock.sleep };
  const service = await startSandbox({ sites: SITES, rateLimit: 0, clock });
  prepare(service);
  try {
    const policiesDir = join(folder, 'policies');
    await mkdir(policiesDir);
    await writeFile(join(policiesDir, 'rings.yaml'), POLICY);
    const settings = { ...settingsFor(service, folder), policiesDir };
    const [policy] = (await policiesOf(settings)).policies;
    if (!policy) throw new Error('The policy of the demo has errors.');
    const caretaker = await openCaretaker({ settings, log: await commandLog(terminal, options), clock });
    try {
      const look = async (what: string) => {
        terminal.message(`\nDemo: ${what}`);
        const run = await caretaker.engine.fire(policy, { trigger: 'manual', scheduledFor: clock.now() });
        await watchRun(caretaker, run, terminal, { silent: true, temporary: true, cancelIfRefused: true });
        const seen = await ringsOf(caretaker, policy);
        for (const { name, is, why } of seen?.rings ?? [])
          terminal.message(`  ${name}: ${is}${why[0] === undefined ? '' : `: ${why[0]}`}`);
        return seen;
      };
      const pass = (days: number) => {
        aheadMs += days * 24 * HOUR;
      };
      await look("rings over the service's own auto updates, in November 2026: each ring gets a schedule.");
      pass(3);
      const promoted = await look('three days later: the canaries took the updates, and stayed well.');
      pass(2);
      const held = await look('two days later: a version broke sites of the ring early.');
      if (held) printRings(terminal, held);
      return promoted?.rings[1]?.is === 'promote' && held?.rings[2]?.is === 'hold';
    } finally {
      await caretaker.close();
    }
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** All sites are well and have updates, and one of these is bad. */
function prepare(service: Sandbox): void {
  for (const id of service.siteIds()) {
    const site = service.site(id);
    site.connect();
    site.lock(false);
    site.pause(false);
    site.underMaintenance(false);
    site.fallBehind();
  }
  service.schedules.breakSites([BAD]);
}
