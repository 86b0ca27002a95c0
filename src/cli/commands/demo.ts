/** Runs the shipped policies against a sandbox with 60 sites, with a Redis that exists only for the demo. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Caretaker, openCaretaker } from '../../app/caretaker.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Reason } from '../../run/reasons.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { loadSettings } from '../../settings/load-settings.ts';
import type { Settings } from '../../settings/settings.ts';
import { commandLog, type GlobalOptions, policiesOf, printFindings } from '../context.ts';
import { exit } from '../exit.ts';
import { onSignals, untilSignal } from '../interruption.ts';
import type { Io } from '../io.ts';
import type { Terminal } from '../output/terminal.ts';
import { watchRun } from '../watch-run.ts';

const SITES = 60;
/** A sync that takes one minute in the service takes three seconds. */
const SPEED = 20;
/** The request budget, increased by the same factor, so that no one waits a minute for the next window. */
const REQUESTS = 200 * SPEED;
/** The policy that runs first, because the README describes it. */
const FIRST = 'nightly-sync';
/**
 * Reasons that indicate a fault of the demo. Other failures are simulated on purpose, so they are expected.
 */
const unexpected: readonly (Reason | undefined)[] = [
  'conflict',
  'internal',
  'rejected',
  'timeout',
  'unavailable',
  'unknown-effect',
];
const shipped = createRequire(import.meta.url).resolve('#root/config/caretaker.yaml');

/** Runs every shipped policy and prints the result of each site. At a terminal, then serves the dashboard. */
export async function demo(terminal: Terminal, options: GlobalOptions): Promise<number> {
  const { paint, message } = terminal;
  const folder = await mkdtemp(join(tmpdir(), 'caretaker-demo-'));
  const service = await startSandbox({ sites: SITES, speed: SPEED, rateLimit: REQUESTS });
  const interruption = handleSignals(terminal.io);
  try {
    message(
      `The demo uses a simulated account with ${SITES} sites at ${service.url}. Time and request budget are ${SPEED} times as fast as in the real service.`,
    );
    const settings = demoSettings(service, folder);
    const { policies, findings } = await policiesOf(settings);
    printFindings(findings, terminal);
    if (findings.length > 0) return exit.badInput;
    const caretaker = await openCaretaker({ settings, log: await commandLog(terminal, options) });
    try {
      message(`Redis: ${caretaker.redis.where}, only for this demo.`);
      let code: number = exit.ok;
      for (const policy of inOrder(policies)) {
        message(`\nDemo: ${paint('bold', policy.name)}: ${policy.description ?? policy.job}`);
        const run = await caretaker.engine.fire(policy, {
          trigger: 'manual',
          scheduledFor: caretaker.clock.now(),
        });
        if (!interruption.received())
          await watchRun(caretaker, run, terminal, {
            allTargets: true,
            temporary: true,
            cancelIfRefused: true,
          });
        if (interruption.received()) {
          message('The demo was interrupted. Its simulated account and its Redis are deleted.');
          return exit.interrupted;
        }
        const unexpectedResult = await findUnexpected(caretaker, run.id);
        if (unexpectedResult === undefined) continue;
        message(
          `${paint('red', 'error')}: Demo: ${policy.name} did not end as expected: ${unexpectedResult}`,
        );
        code = exit.notAllWell;
      }
      const { demoRings } = await import('./demo-rings.ts');
      if (!(await demoRings(terminal, options, demoSettings))) {
        message(`${paint('red', 'error')}: Demo: the rings did not end as expected.`);
        code = exit.notAllWell;
      }
      if (code === exit.ok)
        message('\nDemo: every policy ended as expected. All failures above are simulated.');
      if (!terminal.interactive || !terminal.io.stdout.isTTY) return code;
      await keepRunning(caretaker, terminal);
      return code;
    } finally {
      await caretaker.close();
    }
  } finally {
    interruption.removeHandlers();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const inOrder = (policies: readonly Policy[]): Policy[] =>
  policies.toSorted((a, b) => Number(b.name === FIRST) - Number(a.name === FIRST));

/** Describes an unexpected result of a run; undefined when everything ended as the simulation intends. */
async function findUnexpected({ records }: Caretaker, run: string): Promise<string | undefined> {
  const { status } = (await records.runs.get(run)) ?? {};
  if (status !== 'succeeded' && status !== 'partial') return `it is ${status}.`;
  for await (const { label, outcome, reason, detail } of records.targets.all(run)) {
    if (outcome === 'failed' && unexpected.includes(reason)) return `${label} is ${reason}: ${detail ?? ''}`;
  }
  return undefined;
}

/**
 * Notes the first signal, so that everything the demo started is stopped. The second one exits immediately.
 */
function handleSignals(io: Io) {
  let received = false;
  const removeHandlers = onSignals(io, () => {
    if (received) io.exit(exit.interrupted);
    received = true;
  });
  return { received: () => received, removeHandlers };
}

/**
 * The shipped configuration, with the simulated account, a Redis in the folder of the demo, and a free port.
 */
function demoSettings({ url, token }: { url: string; token: string }, folder: string): Settings {
  const settings = loadSettings({
    configPath: shipped,
    cwd: folder,
    // These override a file .env beside the shipped configuration.
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
  terminal.message(`\nDashboard: ${running.dashboard?.signInLink ?? running.dashboard?.url}`);
  terminal.message(
    'The daemon keeps running, and policies run at their scheduled times. Press Ctrl-C to stop.',
  );
  await untilSignal(terminal.io);
  await running.stop();
}
