/**
 * The commands of `caretaker`, with their arguments and options. Each one is a file in `commands/` that is
 * loaded when the command is called, so that `--help` is fast.
 */
import { Option } from '@commander-js/extra-typings';
import type { Io } from './io.ts';
import { rootHelp } from './program/help.ts';
import {
  type ActionOf,
  addByteOrderMark,
  collect,
  ignoreFreeze,
  json,
  label,
  output,
  type Program,
  reason,
  rootCommand,
  wholeNumber,
} from './program/root.ts';
import { addAnnouncementCommands, addApprovalCommands, addRunCommands } from './program/runs.ts';
import {
  addAccessCommands,
  addAuditCommand,
  addFindingsCommand,
  addNotifyCommands,
  addServiceCommands,
  addShellCommands,
  addSiteCommands,
} from './program/service.ts';

/** Creates the command tree. */
export function createProgram(actionOf: ActionOf, streams: Pick<Io, 'stdout' | 'stderr'>) {
  const program = rootCommand(streams);
  addWorkCommands(program, actionOf);
  addPolicyCommands(program, actionOf);
  addInventoryCommands(program, actionOf);
  addFreezeCommands(program, actionOf);
  addScheduleCommands(program, actionOf);
  addRunCommands(program, actionOf);
  addApprovalCommands(program, actionOf);
  addAnnouncementCommands(program, actionOf);
  addSiteCommands(program, actionOf);
  addFindingsCommand(program, actionOf);
  addAuditCommand(program, actionOf);
  addNotifyCommands(program, actionOf);
  addServiceCommands(program, actionOf);
  addAccessCommands(program, actionOf);
  addShellCommands(program, actionOf);
  addByteOrderMark(program);
  program.helpInformation = rootHelp;
  return program;
}

/** Commands to set up, check and run policies. */
function addWorkCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('init')
    .description(
      'write a configuration, example policies with tests, schemas for editors and a README into this folder',
    )
    .action(actionOf(async () => (await import('./commands/init.ts')).init));
  program
    .command('validate')
    .argument('[file...]', 'policy files (default: all in the policies folder)')
    .description('check the configuration and the policies')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/validate.ts')).validate));
  program
    .command('test')
    .argument('[file...]', 'test files (default: all in the folder tests beside the policies)')
    .description('run the tests of policies, without network or Redis')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/test.ts')).test));
  program
    .command('plan')
    .argument('[policy]')
    .description('show the targets of a policy, what it excludes and why, and the requests a run would cost')
    .option('--target <id...>', 'limit the run to these targets: ids, or addresses of sites')
    .option('--inventory <file>', 'plan with a saved inventory, without network or Redis')
    .option('--at <time>', 'with --inventory: plan for this time (default: the time it was saved)')
    .option('--all', 'show every target, in place of the first 50 and of groups')
    .option('--out <file>', 'save the plan, so that "caretaker apply" does exactly that')
    .option('--expires <duration>', 'with --out: how long it can be applied (default: 7d, at most 30d)')
    .option('--show <file>', 'show a saved plan, without network or Redis')
    .addOption(
      new Option(
        '--detailed-exitcode',
        'exit with 0 when there is nothing to do, 2 when there is, 1 for errors',
      ).implies({
        detailedExitcode: true as const,
      }),
    )
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/plan.ts')).plan));
  program
    .command('apply')
    .argument('<file>', 'file that "caretaker plan --out" made')
    .description('do what a saved plan has, and nothing else; targets that have changed since are skipped')
    .option('-y, --yes', 'apply it without asking')
    .option('--all', 'show every target, in place of the first 20 and of groups')
    .option('--detach', 'start the run and exit; the daemon does the work')
    .addOption(ignoreFreeze())
    .addOption(reason())
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/apply.ts')).apply));
  program
    .command('run')
    .argument('<policy>')
    .description('run a policy now and follow the run to its end')
    .option('--dry-run', 'only show the plan, like "caretaker plan"')
    .option('--target <id...>', 'limit the run to these targets: ids, or addresses of sites')
    .option('--detach', 'start the run and exit; the daemon does the work')
    .addOption(ignoreFreeze())
    .addOption(reason())
    .addOption(output())
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
    .option('--at <time>', 'save what a plan for this time reads, for "plan --inventory --at" (default: now)')
    .addOption(output())
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
    .addOption(label())
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/policies.ts')).listPolicies));
  policies
    .command('show')
    .argument('<name>')
    .description('show a policy with all defaults, and its last and next runs')
    .option('--expanded', 'print only the policy, as a file with all defaults')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/policies.ts')).showPolicy));
  policies
    .command('diff')
    .description(
      'show what the files here would change; exit code 0: nothing, 1: something, 2: files with errors',
    )
    .option(
      '--against <folder|revision>',
      'compare with a folder, or with the policies folder in a git revision (default: the active policies of running daemons)',
    )
    .option('--inventory <file>', 'also show which targets are gained and lost, with a saved inventory')
    .option(
      '--at <time>',
      'compare for this time (default: now; targets: the time when the inventory was saved)',
    )
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/policies-diff.ts')).diffPolicies));
  policies
    .command('rings')
    .argument('<name>')
    .description('show the rings of a policy (update-rings): what each waits for, versions, suspects')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/rings.ts')).showRings));
  policies
    .command('hold')
    .argument('<name>')
    .argument('[ring]', 'only this ring (default: all)')
    .description('hold rings of a policy: their schedules are paused with its next run')
    .addOption(reason())
    .action(actionOf(async () => (await import('./commands/rings.ts')).holdRings));
  policies
    .command('unhold')
    .argument('<name>')
    .argument('[ring]', 'only this ring (default: all)')
    .description('end the hold of rings')
    .addOption(reason())
    .action(actionOf(async () => (await import('./commands/rings.ts')).unholdRings));
  policies
    .command('release')
    .argument('<name>')
    .argument('<item>', '"core", "plugin shop/shop.php" or "theme storefront"')
    .argument('<version>')
    .description('let a version pass that is suspect or held')
    .addOption(reason())
    .action(actionOf(async () => (await import('./commands/rings.ts')).releaseVersion));
  policies
    .command('pause')
    .argument('[name...]', whichPolicies)
    .description('pause the scheduled runs of policies, until resumed or until a time')
    .option('--job <name>', 'policies of this job')
    .option('--account <name>', 'policies of this account')
    .addOption(label())
    .option('--all', 'all policies')
    .option('--reason <text>', 'the reason, shown with the pause')
    .option(
      '--until <when>',
      'resume automatically at this time: 2026-12-01, 2026-12-01T08:00Z, tomorrow, or 3d (from now)',
    )
    .option('--for <duration>', 'resume automatically after this duration: 3d')
    .action(actionOf(async () => (await import('./commands/pause.ts')).pausePolicies));
  policies
    .command('resume')
    .argument('[name...]', whichPolicies)
    .description('resume paused policies')
    .option('--job <name>', 'policies of this job')
    .option('--account <name>', 'policies of this account')
    .addOption(label())
    .option('--all', 'all policies')
    .addOption(reason())
    .action(actionOf(async () => (await import('./commands/pause.ts')).resumePolicies));
}

/** Commands for freezes. */
function addFreezeCommands(program: Program, actionOf: ActionOf): void {
  const list = () => actionOf(async () => (await import('./commands/freeze.ts')).freezes);
  const freeze = program
    .command('freeze')
    .description('list the active freezes, begin and end them')
    .addOption(output())
    .addOption(json())
    .action(list());
  freeze
    .command('list')
    .description('list the active freezes, and those that begin later')
    .addOption(output())
    .addOption(json())
    .action(list());
  freeze
    .command('add')
    .description('prevent all policies, or some, from starting runs until a time, or again and again')
    .option('--until <when>', 'end of the freeze: 2026-12-01, 2026-12-01T08:00Z, tomorrow, or 3d (from now)')
    .option('--for <duration>', 'duration of the freeze: 3d')
    .option('--from <when>', 'begin of the freeze (default: now)')
    .option('--every <cron>', 'with --for: begin again and again, as in "0 22 * * fri"; repeatable', collect)
    .option('--timezone <zone>', 'time zone of --every (default: UTC)')
    .option('--reason <text>', 'the reason, shown with the freeze')
    .option('--policy <name>', 'only this policy, or those of a pattern: "nightly-*"')
    .option('--account <name>', 'only policies of this account')
    .option('--job <name>', 'only policies of this job')
    .option('--client <id or name>', 'only targets of this client')
    .option('--tag <id or name>', 'only targets with this tag')
    .action(actionOf(async () => (await import('./commands/freeze.ts')).freeze));
  freeze
    .command('end')
    .argument('[id]', 'the number of a freeze, as shown by "freeze list" (default: the freeze of everything)')
    .description('end a freeze early')
    .addOption(reason())
    .action(actionOf(async () => (await import('./commands/freeze.ts')).unfreeze));
}

/** Commands about scheduled times. */
function addScheduleCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('next')
    .argument('[policy...]', 'policy names (default: all)')
    .description('list upcoming scheduled runs')
    .option('--until <time>', 'a time, or a duration from now: 2026-12-01, "tomorrow 06:00", 3d', '7d')
    .option('--limit <n>', 'maximum number of runs per policy', wholeNumber(1, 1_000), 20)
    .addOption(output())
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
    .addOption(output())
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
    .addOption(reason())
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('./commands/backfill.ts')).backfill));
}
