/** Which commands speak to a server (`--server`), and why others cannot. */
import type { Terminal } from '../output/terminal.ts';
import type { Server } from './server.ts';

type RemoteCommand = (
  terminal: Terminal,
  server: Server,
  args: string[],
  // biome-ignore lint/suspicious/noExplicitAny: commander has checked the options of each command.
  options: any,
) => Promise<number>;

const runs = () => import('./runs.ts');
const policies = () => import('./policies.ts');
const rollout = () => import('./rollout.ts');
const schedule = () => import('./schedule.ts');

/** They ask a `Client`, so the same code works here and on a server. */
export const clientCommands: ReadonlySet<string> = new Set([
  'announcements',
  'announcements cancel',
  'approvals',
  'audit',
  'findings',
  'findings acknowledge',
  'findings unacknowledge',
  'notify list',
  'notify resend',
  'queues',
  'queues resume',
  'status',
]);

/** By the words of the command line: what works on a server by code of its own. */
export const remoteCommands: Readonly<Record<string, () => Promise<RemoteCommand>>> = {
  plan: async () => (await import('./plan.ts')).plan,
  apply: async () => (await import('./apply.ts')).apply,
  run: async () => (await runs()).run,
  runs: async () => (await runs()).listRuns,
  'runs show': async () => (await runs()).showRun,
  'runs export': async () => (await runs()).exportRun,
  'runs watch': async () => (await runs()).watchRun,
  'runs cancel': async () => (await runs()).cancelRun,
  'runs retry': async () => (await runs()).retryRun,
  'runs continue': async () => (await runs()).continueRun,
  'runs release': async () => (await runs()).releaseRun,
  'runs skip-pause': async () => (await rollout()).skipPause,
  'runs resume': async () => (await rollout()).resumeRun,
  approve: async () => (await rollout()).approveRun,
  reject: async () => (await rollout()).rejectRun,
  policies: async () => (await policies()).listPolicies,
  'policies show': async () => (await policies()).showPolicy,
  'policies pause': async () => (await policies()).pausePolicies,
  'policies resume': async () => (await policies()).resumePolicies,
  next: async () => (await schedule()).next,
  why: async () => (await schedule()).why,
  backfill: async () => (await schedule()).backfill,
  freeze: async () => (await policies()).freeze,
  freezes: async () => (await policies()).freezes,
  unfreeze: async () => (await policies()).unfreeze,
  budget: async () => (await import('./budget.ts')).budget,
  'notify test': async () => (await import('./notify.ts')).testChannel,
};

/** Why a command cannot work with a server, and what to do instead. */
interface Refusal {
  why: string;
  instead: string;
}

const withoutServer = 'Omit --server.';
const files: Refusal = { why: 'it works on files of this machine', instead: withoutServer };
const user: Refusal = { why: 'it makes lines for the configuration', instead: withoutServer };

/**
 * They need no server: they use neither Redis nor what it has, or start it. CARETAKER_SERVER does not concern them; only
 * `--server` is refused.
 */
export const localCommands: Readonly<Record<string, Refusal>> = {
  init: files,
  validate: { why: 'it checks the files of this machine', instead: withoutServer },
  test: files,
  schema: { why: 'it prints the schemas of this version', instead: withoutServer },
  explain: { why: 'it explains the words of this version', instead: withoutServer },
  completion: { why: 'it prints a script for the shell of this machine', instead: withoutServer },
  sandbox: { why: 'it starts a simulated service on this machine', instead: withoutServer },
  demo: { why: 'it runs everything on this machine', instead: withoutServer },
  daemon: { why: 'it is what a server runs', instead: 'Start it on the machine of the server.' },
  doctor: {
    why: 'it checks the configuration and the connections of this machine',
    instead: 'Run it on the machine of the server.',
  },
  api: { why: 'it calls the service with the token of an account', instead: withoutServer },
  'inventory save': { why: 'it reads the service with the token of an account', instead: withoutServer },
  'policies diff': {
    why: 'it compares the files of this machine',
    instead: 'Omit --server, and compare with a folder or a git revision.',
  },
  'user add': user,
  'user passwd': user,
  'user token': user,
};

/** They read Redis itself, and are refused with CARETAKER_SERVER too. */
export const redisCommands: Readonly<Record<string, Refusal>> = {
  accounts: { why: 'it compares Redis with the configuration of this machine', instead: withoutServer },
  'accounts move': { why: 'it works in Redis itself', instead: withoutServer },
  backup: { why: 'it reads Redis itself', instead: withoutServer },
  restore: { why: 'it writes to Redis itself', instead: withoutServer },
  dashboard: {
    why: 'it makes a link in Redis itself',
    instead: 'The address of the server is that of the dashboard.',
  },
};
