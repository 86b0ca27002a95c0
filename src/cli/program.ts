/**
 * The commands of `caretaker`, with their arguments and options. Each one is a file in `commands/` that is
 * loaded when the command is called, so that `--help` is fast.
 */
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { listFaults } from '../sandbox/faults/names.ts';
import type { GlobalOptions } from './context.ts';
import type { Terminal } from './output/terminal.ts';
import { version } from './version.ts';

/**
 * A function of `commands/`: takes the arguments, then the options of all levels, and returns the exit code.
 */
export type CommandFunction<Args extends unknown[], Options> = (
  terminal: Terminal,
  ...args: [...Args, Options]
) => Promise<number>;

/**
 * Makes the action of a command from the function that `load` returns. The compiler compares both: the
 * command must declare every option that the function reads, with a matching type.
 */
export type ActionOf = <Args extends unknown[], Options>(
  load: () => Promise<CommandFunction<Args, Options>>,
) => <Declared extends Options>(
  ...args: [...Args, unknown, { optsWithGlobals(): Declared & NoneMissing<Options, Declared> }]
) => Promise<void>;

/** Global options need no declaration. `--json` is declared only by commands that print data. */
type NoneMissing<Options, Declared> =
  Exclude<keyof Options, keyof Declared | keyof GlobalOptions> extends never
    ? unknown
    : { undeclared: Exclude<keyof Options, keyof Declared | keyof GlobalOptions> };

/** Creates the command tree. */
export function createProgram(actionOf: ActionOf) {
  const program = rootCommand();
  addWorkCommands(program, actionOf);
  addPolicyCommands(program, actionOf);
  addInventoryCommands(program, actionOf);
  addFreezeCommands(program, actionOf);
  addScheduleCommands(program, actionOf);
  addRunCommands(program, actionOf);
  addServiceCommands(program, actionOf);
  addShellCommands(program, actionOf);
  return program;
}

type Program = ReturnType<typeof rootCommand>;

const rootCommand = () =>
  new Command('caretaker')
    .description('Manages fleets of remote content-management sites by policies.')
    .version(version, '--version', 'print the version')
    .option('--config <file>', 'configuration file (default: CARETAKER_CONFIG, then config/caretaker.yaml)')
    .option('--verbose', 'log progress to standard error')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command...]', 'show the help of a command')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeErr: (text) => process.stderr.write(text) })
    .exitOverride();

const ignoreFreeze = () => new Option('--ignore-freeze', 'start the run even during a freeze');
const json = () => new Option('--json', 'print JSON to standard output');
const whichRun = 'run id, a prefix of it, or "last"';

const wholeNumber =
  (min: number, max = Number.MAX_SAFE_INTEGER) =>
  (text: string) => {
    const number = Number(text);
    if (text.trim() !== '' && Number.isInteger(number) && number >= min && number <= max) return number;
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`Expected a whole number ${range}.`);
  };

const collect = (value: string, before: string[] = []) => [...before, value];

/** Commands to set up, check and run policies. */
function addWorkCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('init')
    .description('write a configuration file and example policies into the current folder')
    .action(actionOf(async () => (await import('./commands/init.ts')).init));
  program
    .command('validate')
    .argument('[file...]', 'policy files (default: all in the policies folder)')
    .description('check the configuration and the policies')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/validate.ts')).validate));
  program
    .command('test')
    .argument('[file...]', 'test files (default: all in the folder tests beside the policies)')
    .description('run the tests of policies, without network or Redis')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/test.ts')).test));
  program
    .command('plan')
    .argument('<policy>')
    .description('show the targets of a policy, what it excludes and why, and the requests a run would cost')
    .option('--target <id...>', 'limit the run to these targets')
    .option('--inventory <file>', 'plan with a saved inventory, without network or Redis')
    .option('--at <time>', 'with --inventory: plan for this time (default: the time it was saved)')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/plan.ts')).plan));
  program
    .command('run')
    .argument('<policy>')
    .description('run a policy now and follow the run to its end')
    .option('--dry-run', 'only show the plan, like "caretaker plan"')
    .option('--target <id...>', 'limit the run to these targets')
    .option('--detach', 'start the run and exit; the daemon does the work')
    .addOption(ignoreFreeze())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/run.ts')).run));
  program
    .command('daemon')
    .description('run policies on schedule and serve the dashboard')
    .option('--roles <roles>', 'comma-separated roles of this process', 'scheduler,worker,dashboard')
    .option(
      '--port <n>',
      'port of the dashboard; 0 selects a free one (default: dashboard.port)',
      wholeNumber(0),
    )
    .action(actionOf(async () => (await import('./commands/daemon.ts')).daemon));
}

/** Commands to save the lists of an account. */
function addInventoryCommands(program: Program, actionOf: ActionOf): void {
  const inventory = program
    .command('inventory')
    .description('save the lists of an account, to try policies without requests');
  inventory
    .command('save')
    .argument(
      '[file]',
      'file to write, compressed if it ends in .gz (default: inventory-<account>-<day>.json.gz)',
    )
    .description('save the lists of an account, and what its policies read in addition; changes nothing')
    .option('--account <name>', 'account to read', 'default')
    .option('--policy <name...>', 'save only what these policies read (default: all lists and policies)')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/inventory.ts')).saveInventory));
}

/** Commands to list, pause and resume policies. */
function addPolicyCommands(program: Program, actionOf: ActionOf): void {
  const whichPolicies = 'policy names, or patterns such as "nightly-*"';
  const policies = program
    .command('policies')
    .description('list policies with their next and last runs')
    .option('--graph', 'in the order of their chains (schedule.after), each below the one that it follows')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/policies.ts')).listPolicies));
  policies
    .command('show')
    .argument('<name>')
    .description('show a policy with all defaults, and its last and next runs')
    .option('--expanded', 'print only the policy, as a file with all defaults')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/policies.ts')).showPolicy));
  policies
    .command('pause')
    .argument('[name...]', whichPolicies)
    .description('pause the scheduled runs of policies, until resumed or until a time')
    .option('--job <name>', 'policies of this job')
    .option('--account <name>', 'policies of this account')
    .option('--all', 'all policies')
    .option('--reason <text>', 'the reason, shown with the pause')
    .option(
      '--until <when>',
      'resume automatically at this time: 2026-12-01, 2026-12-01T08:00Z, or 3d (from now)',
    )
    .option('--for <duration>', 'resume automatically after this duration: 3d')
    .action(actionOf(async () => (await import('./commands/pause.ts')).pausePolicies));
  policies
    .command('resume')
    .argument('[name...]', whichPolicies)
    .description('resume paused policies')
    .option('--job <name>', 'policies of this job')
    .option('--account <name>', 'policies of this account')
    .option('--all', 'all policies')
    .action(actionOf(async () => (await import('./commands/pause.ts')).resumePolicies));
}

/** Commands for the global freeze. */
function addFreezeCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('freeze')
    .description('prevent all policies from starting runs until a time')
    .option('--until <when>', 'end of the freeze: 2026-12-01, 2026-12-01T08:00Z, or 3d (from now)')
    .option('--for <duration>', 'duration of the freeze: 3d')
    .option('--reason <text>', 'the reason, shown with the pause')
    .action(actionOf(async () => (await import('./commands/freeze.ts')).freeze));
  program
    .command('unfreeze')
    .description('end the freeze early')
    .action(actionOf(async () => (await import('./commands/freeze.ts')).unfreeze));
}

/** Commands about scheduled times. */
function addScheduleCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('next')
    .argument('[policy...]', 'policy names (default: all)')
    .description('list upcoming scheduled runs')
    .option('--days <n>', 'number of days to show', wholeNumber(1, 366), 7)
    .option('--limit <n>', 'maximum number of runs per policy', wholeNumber(1, 1_000), 20)
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/next.ts')).next));
  program
    .command('why')
    .argument('<policy>')
    .argument(
      '<when>',
      'a day or time in the time zone of the policy: 2026-11-21, 2026-11-21T02:00, 02:00, yesterday',
    )
    .description('explain why a policy ran or did not run at a time, or what it will do')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/why.ts')).why));
  program
    .command('backfill')
    .argument('<policy>')
    .description('run a policy for past scheduled times that were missed or skipped')
    .requiredOption(
      '--from <when>',
      'start of the range: a day or time in the time zone of the policy, or a duration ago: 2026-11-01, 3d',
    )
    .option('--to <when>', 'end of the range, inclusive, in the same forms (default: now)')
    .option('--dry-run', 'only show which scheduled times would be run, and why the others would not')
    .addOption(
      new Option('--reprocess <which>', 'which scheduled times that already have a run to run again')
        .choices(['none', 'failed', 'all'])
        .default('none'),
    )
    .option('--detach', 'start the run and exit; the daemon does the work')
    .addOption(ignoreFreeze())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/backfill.ts')).backfill));
}

/** Commands for runs. */
function addRunCommands(program: Program, actionOf: ActionOf): void {
  const runs = program
    .command('runs')
    .description('list runs, newest first')
    .option('--policy <name>', 'only runs of this policy')
    .option('--status <status>', 'only runs with this status')
    .option('--since <when>', 'only runs since this time: 3d, 12h, 2026-11-01, or 2026-11-01T08:00Z (UTC)')
    .option('--limit <n>', 'maximum number of runs', wholeNumber(1), 20)
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/runs.ts')).listRuns));
  runs
    .command('show')
    .argument('<run>', whichRun)
    .description('show a run and the outcome of each target')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/runs.ts')).showRun));
  runs
    .command('cancel')
    .argument('<run>', whichRun)
    .description('cancel a run; work in progress is followed to its end')
    .option('--leave-tasks', 'follow running tasks of the service to their end instead of cancelling them')
    .option('--force', 'force-end: do not wait for work in progress')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/runs-act.ts')).cancelRun));
  runs
    .command('retry')
    .argument('<run>', whichRun)
    .description('start a new run with the targets that failed, and follow it to its end')
    .option('--detach', 'start the run and exit; the daemon does the work')
    .addOption(ignoreFreeze())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/runs-act.ts')).retryRun));
  runs
    .command('continue')
    .argument('<run>', whichRun)
    .description('continue a run that was interrupted, and follow it to its end')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/runs-act.ts')).continueRun));
  runs
    .command('release')
    .argument('<run>', whichRun)
    .description('continue a run that is held because Redis was restored to an older state')
    .action(actionOf(async () => (await import('./commands/runs-act.ts')).releaseRun));
  runs
    .command('export')
    .argument('<run>', whichRun)
    .description('print the outcome of each target, one per line')
    .addOption(new Option('--format <format>', 'output format').choices(['csv', 'jsonl']).default('csv'))
    .action(actionOf(async () => (await import('./commands/runs-export.ts')).exportRun));
}

/** Commands for the API, the sandbox, the request budget, the queues and the setup. */
function addServiceCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('api')
    .argument('[operation]', 'name of an operation, such as listSites')
    .description('call an operation of the API')
    .option('--list', 'list all operations')
    .option('--describe', 'show the parameters and the response of the operation; sends nothing')
    .option('--account <name>', 'account to use', 'default')
    .option('--param <k=v>', 'path or query parameter; repeatable', collect)
    .option('--filter <field:op=v>', 'filter of a list; repeatable', collect)
    .option('--sort <field,direction>', 'sort order of a list')
    .option('--all', 'read all pages of a list')
    .option('--body <file>', 'file with the JSON body; - reads standard input')
    .option('--output <file>', 'file to write a PDF to')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/api.ts')).api));
  program
    .command('sandbox')
    .description('serve the API with a simulated account, for tests and trials')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 selects a free one', wholeNumber(0, 65_535), 4010)
    .option('--sites <n>', 'number of sites', wholeNumber(0), 60)
    .option('--seed <n>', 'seed of the simulated data; the same seed gives the same data', wholeNumber(0), 1)
    .option('--token <token>', 'API token that requests must use', 'sandbox-token')
    .option('--speed <x>', 'factor by which its time runs faster', Number, 1)
    .option('--clock-offset <duration>', 'how far its clock is ahead; negative if behind: -7m', '0s')
    .option('--list-lag <duration>', 'delay until changes appear in lists: 3s', '0s')
    .option('--no-date-header', 'omit the Date header from responses')
    .option('--rate-limit <n>', 'requests per window; 0 means no limit', wholeNumber(0), 200)
    .option('--window <duration>', 'length of the rate-limit window', '60s')
    .option('--faults <names>', 'simulated faults: flaky, or reset-after:0.05,slow:0.1')
    .option('--state <file>', 'file that keeps the state of the account across restarts')
    .addHelpText('after', `\n${listFaults()}`)
    .action(actionOf(async () => (await import('./commands/sandbox.ts')).sandbox));
  program
    .command('budget')
    .description('show the request budget of each account, and a forecast of the next 24 hours')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/budget.ts')).budget));
  const queues = program
    .command('queues')
    .description('show the number of entries in each queue, and which queues are paused')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/queues.ts')).showQueues));
  queues
    .command('resume')
    .description('resume every queue that another BullMQ client has paused')
    .action(actionOf(async () => (await import('./commands/queues.ts')).resumeQueues));
  program
    .command('doctor')
    .description('check the configuration, Redis, the API and the token')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/doctor.ts')).doctor));
}

/** Commands for editors and shells, and the demo. */
function addShellCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('schema')
    .argument('[what]', 'policy, config or tests (default: all, in one object)')
    .description('print the JSON Schema of policy, configuration and test files')
    .action(
      actionOf(async () => {
        const { schema } = await import('./commands/schema.ts');
        return (terminal: Terminal, what: string | undefined, _options: unknown) => schema(terminal, what);
      }),
    );
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .argument('[word...]', 'words typed so far; used by the completion script')
    .description('print a shell completion script: source <(caretaker completion bash)')
    .action(
      actionOf(async () => {
        const { completion } = await import('./commands/completion.ts');
        return (terminal: Terminal, shell: string, words: string[], _options: unknown) =>
          completion(terminal, shell, words, program);
      }),
    );
  program
    .command('demo')
    .description('run the example policies against a simulated account with 60 sites')
    .action(actionOf(async () => (await import('./commands/demo.ts')).demo));
}
