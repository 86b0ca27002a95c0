/** The help of `caretaker` itself: every command in one line, by what it is for. */

/** In the order of the help. A test compares them with the commands. */
export const groups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Write: {
    init: 'write a configuration, example policies and tests',
    validate: 'check the configuration and the policies',
    test: 'run the tests of policies, without network or Redis',
    inventory: 'save the lists of an account, to try policies with them',
    explain: 'explain a reason, error code, key, operation or job',
    schema: 'print the JSON Schema of policies, configuration, tests',
  },
  Run: {
    plan: 'show what a run would do and cost, or save it',
    apply: 'do what a saved plan has, and nothing else',
    run: 'run a policy now and follow the run to its end',
    backfill: 'run a policy for past scheduled times',
    daemon: 'run policies on schedule and serve the dashboard',
    demo: 'run example policies against a simulated account',
  },
  Look: {
    status: 'what runs, waits for a person, failed, and is next',
    runs: 'list, show, watch, cancel, retry, resume and export runs',
    policies: 'list, show, compare, pause and resume policies',
    sites: 'list the sites of the accounts, show one of them',
    next: 'list upcoming scheduled runs',
    why: 'explain why a policy ran or did not run at a time',
    findings: 'list and acknowledge what is wrong in the fleet',
    budget: 'show the requests of each account, and a forecast',
    queues: 'show what each queue does, pause and resume queues',
    dashboard: 'print the address of the dashboard, and sign in',
  },
  Govern: {
    approvals: 'list, approve and reject runs that wait for a person',
    freeze: 'list, begin and end freezes: no run starts until a time',
    announcements: 'list and cancel announced changes',
    notify: 'list and resend notifications, test receivers',
    audit: 'list what people, programs and the daemon did',
    user: 'make hashes of passwords and tokens',
  },
  Operate: {
    doctor: 'check the configuration, Redis, the API and the token',
    accounts: 'list accounts, and let one move to another address',
    api: 'call an operation of the API',
    backup: 'write the records into a file',
    restore: 'restore the records of a backup',
    sandbox: 'serve the API with a simulated account',
    completion: 'print a shell completion script',
    mcp: 'serve tools for AI assistants: they read and propose',
  },
};

const WIDTH = { group: 9, name: 15 };

export function rootHelp(): string {
  const lines = Object.entries(groups).flatMap(([group, commands]) =>
    Object.entries(commands).map(
      ([name, what], at) => `${(at === 0 ? group : '').padEnd(WIDTH.group)}${name.padEnd(WIDTH.name)}${what}`,
    ),
  );
  return [
    'Usage: caretaker <command> [options]   (caretaker <command> --help)',
    '',
    ...lines,
    '',
    'Everywhere: --config <file>, --server <url>, --verbose, --version',
    '',
  ].join('\n');
}
