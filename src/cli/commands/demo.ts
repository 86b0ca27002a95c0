/**
 * The whole product in a minute: a Redis of its own, the sandbox with sixty sites, the shipped policies run
 * against it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Caretaker, openCaretaker } from '../../app/caretaker.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Reason } from '../../run/reasons.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { loadSettings } from '../../settings/load-settings.ts';
import type { Settings } from '../../settings/settings.ts';
import { commandLog, type GlobalOptions, policiesOf, printFindings } from '../context.ts';
import { exit } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';
import { untilSignal } from '../signals.ts';
import { watchRun } from '../watch-run.ts';

const SITES = 60;
/** A sync of a minute takes three seconds. */
const SPEED = 20;
/** The account's requests a minute, faster as well: nobody is to wait a minute for the next two hundred. */
const REQUESTS = 200 * SPEED;
/** The policy that comes first: it is what the README tells of. */
const FIRST = 'nightly-sync';
/**
 * Some made-up sites fail, as they are made to, and a run that says so ended as it should. These tell of
 * something else.
 */
const unexpected: readonly (Reason | undefined)[] = [
  'conflict',
  'internal',
  'rejected',
  'timeout',
  'unavailable',
  'unknown-effect',
];
const shipped = fileURLToPath(new URL('../../../../config/caretaker.yaml', import.meta.url));

/**
 * Runs every shipped policy and prints what became of each site; stays up with the dashboard at a terminal.
 */
export async function demo(terminal: Terminal, options: GlobalOptions): Promise<number> {
  const { paint, message } = terminal;
  const folder = await mkdtemp(join(tmpdir(), 'caretaker-demo-'));
  const service = await startSandbox({ sites: SITES, speed: SPEED, rateLimit: REQUESTS });
  const interruption = handleSignals();
  try {
    message(
      `The demo uses a simulated account with ${SITES} sites at ${service.url}. Its time and its request budget run ${SPEED} times as fast.`,
    );
    const settings = demoSettings(service, folder);
    const { policies, findings } = await policiesOf(settings);
    printFindings(findings, terminal);
    if (findings.length > 0) return exit.badInput;
    const caretaker = await openCaretaker({ settings, log: await commandLog(options) });
    try {
      message(`Redis: ${caretaker.redis.where}, started for this.`);
      let code: number = exit.ok;
      for (const policy of inOrder(policies)) {
        message(`\nDemo: ${paint('bold', policy.name)}: ${policy.description ?? policy.job}`);
        const run = await caretaker.engine.fire(policy, {
          trigger: 'manual',
          scheduledFor: caretaker.clock.now(),
        });
        if (!interruption.came())
          await watchRun(caretaker, run, terminal, {
            allTargets: true,
            passing: true,
            cancelIfRefused: true,
          });
        if (interruption.came()) {
          message('The demo is over; its account was made up, and its Redis goes with it.');
          return exit.interrupted;
        }
        const surprise = await findUnexpected(caretaker, run.id);
        if (surprise === undefined) continue;
        message(`${paint('red', 'error')}: Demo: ${policy.name} did not end as expected: ${surprise}`);
        code = exit.notAllWell;
      }
      if (code === exit.ok)
        message('\nDemo: every policy ended as expected; what failed, failed as it was made to.');
      if (!terminal.interactive || !process.stdout.isTTY) return code;
      await keepRunning(caretaker, terminal);
      return code;
    } finally {
      await caretaker.close();
    }
  } finally {
    interruption.forget();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const inOrder = (policies: readonly Policy[]): Policy[] =>
  policies.toSorted((a, b) => Number(b.name === FIRST) - Number(a.name === FIRST));

/** What about the end of a run was not to be expected of the made-up account; nothing when all was. */
async function findUnexpected({ records }: Caretaker, run: string): Promise<string | undefined> {
  const { status } = (await records.runs.get(run)) ?? {};
  if (status !== 'succeeded' && status !== 'partial') return `it is ${status}.`;
  for await (const { label, outcome, reason, detail } of records.targets.all(run)) {
    if (outcome === 'failed' && unexpected.includes(reason)) return `${label} is ${reason}: ${detail ?? ''}`;
  }
  return undefined;
}

/**
 * Sees to it that what was started for the demo is stopped again, whenever Ctrl-C comes; the second one ends
 * at once.
 */
function handleSignals() {
  let noted = false;
  const note = () => {
    if (noted) process.exit(exit.interrupted);
    noted = true;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, note);
  return {
    came: () => noted,
    forget() {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, note);
    },
  };
}

/**
 * The shipped configuration, with the made-up account, a Redis in a folder of the demo's, and any free port.
 */
function demoSettings({ url, token }: { url: string; token: string }, folder: string): Settings {
  const settings = loadSettings({
    configPath: shipped,
    cwd: folder,
    // Whatever a file .env beside the shipped configuration says, the demo keeps to itself.
    env: {
      CARETAKER_BASE_URL: url,
      CARETAKER_API_TOKEN: token,
      CARETAKER_DATA_DIR: folder,
      REDIS_URL: 'embedded',
    },
  });
  const { default: account } = settings.accounts;
  if (!account) return settings;
  const budget = { ...account.budget, requestsPerMinute: REQUESTS };
  return {
    ...settings,
    accounts: { default: { ...account, budget } },
    dashboard: { host: '127.0.0.1', port: 0 },
  };
}

async function keepRunning(caretaker: Caretaker, terminal: Terminal): Promise<void> {
  const { startDaemon } = await import('../../app/daemon.ts');
  const running = await startDaemon({ caretaker, roles: ['scheduler', 'worker', 'dashboard'] });
  terminal.message(`\nThe dashboard: ${running.dashboard?.signInLink ?? running.dashboard?.url}`);
  terminal.message(
    'It shows the made-up account. It stays up, and policies fire when they are due. Ctrl-C ends it.',
  );
  await untilSignal();
  await running.stop();
}
