/** The commands that cannot work with a server (`--server`), why, and what to do instead. All others can. */
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
