/**
 * The commands of `caretaker`, with their arguments and options. Each one is a file in `commands/`, loaded
 * when it is called, so that `--help` is quick.
 */
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { listFaults } from '../sandbox/faults/names.ts';
import type { GlobalOptions } from './context.ts';
import type { Terminal } from './output/terminal.ts';
import { version } from './version.ts';

/**
 * A command as `commands/` has it: called with its arguments, then the options of all levels; gives the exit
 * code.
 */
export type CommandFunction<Args extends unknown[], Options> = (
  terminal: Terminal,
  ...args: [...Args, Options]
) => Promise<number>;

/**
 * Makes the action of a command out of the function that `load` gives. The compiler compares the two: the
 * command declares every option that its function reads, with a type that it takes.
 */
export type ActionOf = <Args extends unknown[], Options>(
  load: () => Promise<CommandFunction<Args, Options>>,
) => <Declared extends Options>(
  ...args: [...Args, unknown, { optsWithGlobals(): Declared & NoneMissing<Options, Declared> }]
) => Promise<void>;

/** `--json` is read everywhere, and declared where there is something to print. */
type NoneMissing<Options, Declared> =
  Exclude<keyof Options, keyof Declared | keyof GlobalOptions> extends never
    ? unknown
    : { undeclared: Exclude<keyof Options, keyof Declared | keyof GlobalOptions> };

/** The whole tree of commands. */
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
    .option(
      '--config <file>',
      'the configuration file (default: CARETAKER_CONFIG, then config/caretaker.yaml)',
    )
    .option('--verbose', 'say on standard error what is being done')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command...]', 'show help of a command')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeErr: (text) => process.stderr.write(text) })
    .exitOverride();

const ignoreFreeze = () => new Option('--ignore-freeze', 'also while everything is frozen');
const json = () => new Option('--json', 'print JSON to standard output');
const whichRun = 'its id, the beginning of it, or "last"';

const wholeNumber =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string) => {
    const number = Number(text);
    if (text.trim() !== '' && Number.isInteger(number) && number >= least && number <= most) return number;
    const upTo = most === Number.MAX_SAFE_INTEGER ? '' : ` to ${most}`;
    throw new InvalidArgumentError(`It is a whole number from ${least}${upTo}.`);
  };

const collect = (value: string, before: string[] = []) => [...before, value];

/** Write policies, try them, and work by them. */
function addWorkCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('init')
    .description('write a commented configuration and the starter policies into this folder')
    .action(actionOf(async () => (await import('./commands/init.ts')).init));
  program
    .command('validate')
    .argument('[file...]', 'policy files; default: those of the policies folder')
    .description('check configuration and policies')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/validate.ts')).validate));
  program
    .command('test')
    .argument('[file...]', 'files of tests; default: those of the folder tests beside the policies')
    .description('run the tests of policies, without network or Redis')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/test.ts')).test));
  program
    .command('plan')
    .argument('<policy>')
    .description('show what a policy would work on, what it excludes and why, and what it would cost')
    .option('--target <id...>', 'only these targets')
    .option('--inventory <file>', 'plan over a saved inventory, without network or Redis')
    .option('--at <time>', 'with --inventory: as at this time (default: when it was saved)')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/plan.ts')).plan));
  program
    .command('run')
    .argument('<policy>')
    .description('fire a policy now and follow it to its end')
    .option('--dry-run', 'only plan')
    .option('--target <id...>', 'only these targets')
    .option('--detach', 'leave the work to the daemon')
    .addOption(ignoreFreeze())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/run.ts')).run));
  program
    .command('daemon')
    .description('fire policies when they are due, work, and serve the dashboard')
    .option('--roles <roles>', 'which of scheduler,worker,dashboard', 'scheduler,worker,dashboard')
    .option('--port <n>', "the dashboard's port, 0 = any free one (default: dashboard.port)", wholeNumber(0))
    .action(actionOf(async () => (await import('./commands/daemon.ts')).daemon));
}

/** What an account holds, in a file. */
function addInventoryCommands(program: Program, actionOf: ActionOf): void {
  const inventory = program
    .command('inventory')
    .description("save an account's lists, to try policies on them without a request");
  inventory
    .command('save')
    .argument('[file]', 'gzip if it ends in .gz (default: inventory-<account>-<day>.json.gz)')
    .description('save the lists of an account and what its policies read besides; changes nothing')
    .option('--account <name>', 'the account to read', 'default')
    .option('--policy <name...>', 'only what these policies read (default: all lists, and all policies)')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/inventory.ts')).saveInventory));
}

/** Which policies there are, and which are paused. */
function addPolicyCommands(program: Program, actionOf: ActionOf): void {
  const whichPolicies = 'names, or patterns such as "nightly-*"';
  const policies = program
    .command('policies')
    .description('list policies with their next and last runs')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/policies.ts')).listPolicies));
  policies
    .command('show')
    .argument('<name>')
    .description('show one policy as it was read')
    .option('--expanded', 'print only the policy, as a file with every default filled in')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/policies.ts')).showPolicy));
  policies
    .command('pause')
    .argument('[name...]', whichPolicies)
    .description('stop the scheduled runs of policies until they are resumed, or until a time')
    .option('--job <name>', 'those of this job')
    .option('--account <name>', 'those of this account')
    .option('--all', 'all of them')
    .option('--reason <text>', 'the reason, shown with the pause')
    .option('--until <when>', 'resume automatically then: 2026-12-01, 2026-12-01T08:00Z, or 3d from now')
    .option('--for <duration>', 'resume automatically after this duration: 3d')
    .action(actionOf(async () => (await import('./commands/pause.ts')).pausePolicies));
  policies
    .command('resume')
    .argument('[name...]', whichPolicies)
    .description('let policies fire again')
    .option('--job <name>', 'those of this job')
    .option('--account <name>', 'those of this account')
    .option('--all', 'all of them')
    .action(actionOf(async () => (await import('./commands/pause.ts')).resumePolicies));
}

/** Nothing of any policy begins. */
function addFreezeCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('freeze')
    .description('start no run of any policy until a time; ends automatically')
    .option('--until <when>', 'when it ends: 2026-12-01, 2026-12-01T08:00Z, or 3d from now')
    .option('--for <duration>', 'how long it lasts: 3d')
    .option('--reason <text>', 'the reason, shown with the pause')
    .action(actionOf(async () => (await import('./commands/freeze.ts')).freeze));
  program
    .command('unfreeze')
    .description('end a freeze before its time')
    .action(actionOf(async () => (await import('./commands/freeze.ts')).unfreeze));
}

/** When policies fire. */
function addScheduleCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('next')
    .argument('[policy...]', 'default: all')
    .description('list upcoming runs, in the time zones of the policies and here')
    .option('--days <n>', 'so many days ahead', wholeNumber(1, 366), 7)
    .option('--limit <n>', 'at most so many of each policy', wholeNumber(1, 1_000), 20)
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/next.ts')).next));
  program
    .command('why')
    .argument('<policy>')
    .argument(
      '<when>',
      "a day or time in the policy's time zone: 2026-11-21, 2026-11-21T02:00, 02:00, yesterday",
    )
    .description('show why a policy ran at a time or did not, or what it will do')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/why.ts')).why));
  program
    .command('backfill')
    .argument('<policy>')
    .description('run for past scheduled times that were missed or skipped, one run after the other')
    .requiredOption(
      '--from <when>',
      "a day, a time in the policy's time zone, or how long ago: 2026-11-01, 3d",
    )
    .option('--to <when>', 'the end of the range, included, in the same forms (default: now)')
    .option('--dry-run', 'only show which scheduled times would run, and why the others would not')
    .addOption(
      new Option('--reprocess <which>', 'which scheduled times that already had a run get another')
        .choices(['none', 'failed', 'all'])
        .default('none'),
    )
    .option('--detach', 'leave the work to the daemon')
    .addOption(ignoreFreeze())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/backfill.ts')).backfill));
}

/** What runs are doing, and what became of them. */
function addRunCommands(program: Program, actionOf: ActionOf): void {
  const runs = program
    .command('runs')
    .description('list runs, newest first')
    .option('--policy <name>', 'only of this policy')
    .option('--status <status>', 'only in this status')
    .option('--since <when>', 'only since then: 3d, 12h, 2026-11-01, or 2026-11-01T08:00Z (UTC)')
    .option('--limit <n>', 'at most so many', wholeNumber(1), 20)
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/runs.ts')).listRuns));
  runs
    .command('show')
    .argument('<run>', whichRun)
    .description('show a run and what became of each target')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/runs.ts')).showRun));
  runs
    .command('cancel')
    .argument('<run>', whichRun)
    .description('start nothing more; work in progress is followed to its end')
    .option('--leave-tasks', 'follow tasks under way in the service to their end instead of cancelling them')
    .option('--force', 'end it at once, whatever is in flight')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/runs-act.ts')).cancelRun));
  runs
    .command('retry')
    .argument('<run>', whichRun)
    .description('fire again for the targets that failed, and follow them to the end')
    .option('--detach', 'leave the work to the daemon')
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
    .description('print what became of each target, one a line')
    .addOption(new Option('--format <format>', 'how').choices(['csv', 'jsonl']).default('csv'))
    .action(actionOf(async () => (await import('./commands/runs-export.ts')).exportRun));
}

/** The service: calls, a stand-in for it, requests, queues. */
function addServiceCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('api')
    .argument('[operation]', 'an operation by its name in the specification')
    .description('call any operation of the API')
    .option('--list', 'list all operations')
    .option('--describe', 'show the input and output of the operation; nothing is sent')
    .option('--account <name>', 'the account to ask', 'default')
    .option('--param <k=v>', 'a path or query parameter; may be given again', collect)
    .option('--filter <field:op=v>', 'a filter of a list; may be given again', collect)
    .option('--sort <field,direction>', 'the order of a list')
    .option('--all', 'all pages of a list')
    .option('--body <file>', 'a JSON body; - reads standard input')
    .option('--output <file>', 'where to put a PDF')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/api.ts')).api));
  program
    .command('sandbox')
    .description('serve the whole API from a made-up fleet, to try things without an account')
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--port <n>', '0 = any free one', wholeNumber(0, 65_535), 4010)
    .option('--sites <n>', 'sites in the fleet', wholeNumber(0), 60)
    .option('--seed <n>', 'the same seed makes the same fleet', wholeNumber(0), 1)
    .option('--token <token>', 'what requests must carry', 'sandbox-token')
    .option('--speed <x>', 'how much faster than the clock its time runs', Number, 1)
    .option('--clock-offset <duration>', 'how far its clock is ahead; behind with a minus sign: -7m', '0s')
    .option('--list-lag <duration>', 'how far its lists are behind: 3s', '0s')
    .option('--no-date-header', 'answers do not carry the time of its clock')
    .option('--rate-limit <n>', 'requests a window; 0 = no limit', wholeNumber(0), 200)
    .option('--window <duration>', 'length of the window', '60s')
    .option('--faults <names>', 'what goes wrong: flaky, or reset-after:0.05,slow:0.1')
    .option('--state <file>', 'keep the account in this file across restarts')
    .addHelpText('after', `\n${listFaults()}`)
    .action(actionOf(async () => (await import('./commands/sandbox.ts')).sandbox));
  program
    .command('budget')
    .description('show who uses the requests of each account, and what the next 24 hours will cost')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/budget.ts')).budget));
  const queues = program
    .command('queues')
    .description('show how many entries wait in the queues, and which are paused')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/queues.ts')).showQueues));
  queues
    .command('resume')
    .description('resume every queue that another BullMQ client has paused')
    .action(actionOf(async () => (await import('./commands/queues.ts')).resumeQueues));
  program
    .command('doctor')
    .description('check configuration, Redis, the API and the token')
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/doctor.ts')).doctor));
}

/** Editors and shells, and a first look. */
function addShellCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('schema')
    .argument('[what]', 'policy, config or tests; default: all, under these names')
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
    .argument('[word...]', 'what is typed so far; the script asks for what may follow')
    .description('print what makes a shell complete commands: source <(caretaker completion bash)')
    .action(
      actionOf(async () => {
        const { completion } = await import('./commands/completion.ts');
        return (terminal: Terminal, shell: string, words: string[], _options: unknown) =>
          completion(terminal, shell, words, program);
      }),
    );
  program
    .command('demo')
    .description('run the shipped policies against a made-up fleet of 60 sites')
    .action(actionOf(async () => (await import('./commands/demo.ts')).demo));
}
