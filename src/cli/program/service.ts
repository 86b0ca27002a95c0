import { Argument, Option } from '@commander-js/extra-typings';
import { type Role, roles } from '../../access/principal.ts';
import {
  auditResults,
  deliveryStates,
  findingStates,
  queueNames,
  severities,
} from '../../records/filter-values.ts';
import { listFaults } from '../../sandbox/faults/names.ts';
import type { Terminal } from '../output/terminal.ts';
import {
  type ActionOf,
  collect,
  collectList,
  json,
  output,
  type Program,
  reason,
  someChoices,
  wholeNumber,
} from './root.ts';

const queue = () => new Argument('[queue]', 'only this queue (default: all)').choices(queueNames);

/** The audit log. */
export function addAuditCommand(program: Program, actionOf: ActionOf): void {
  program
    .command('audit')
    .description('list what people, programs and the daemon did, newest first')
    .option('--since <when>', 'only since this time: 3d, 12h, 2026-11-01, or 2026-11-01T08:00Z (UTC)')
    .option('--until <when>', 'only before this time, written as --since')
    .option('--who <name>', 'only acts of whose name contains this; repeatable, or with commas', collectList)
    .option(
      '--what <command>',
      'only this, or what begins with it: runs, runs.cancel, sign-in; repeatable, or with commas',
      collectList,
    )
    .option('--policy <name>', 'only acts on this policy; repeatable, or with commas', collectList)
    .option('--run <run>', 'only acts on the run with this id; repeatable, or with commas', collectList)
    .option('--account <name>', 'only acts on this account; repeatable, or with commas', collectList)
    .addOption(someChoices('--result <result>', 'only acts with this result', auditResults))
    .option('--limit <n>', 'maximum number of lines', wholeNumber(1, 1_000), 50)
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/audit.ts')).audit));
}

// The outcomes of `run/run.ts`, which loads more than the help needs.
const ends = ['succeeded', 'failed', 'skipped', 'cancelled', 'none'] as const;

/** The sites of the accounts. */
export function addSiteCommands(program: Program, actionOf: ActionOf): void {
  const sites = program
    .command('sites')
    .alias('site')
    .description('list the sites of the accounts, with their last sync, last result and findings')
    .option('--text <words>', 'only with these words in the address, title or id')
    .option('--client <id or name>', 'only of this client; repeatable, or with commas', collectList)
    .option('--tag <id or name>', 'only with this tag; repeatable, or with commas', collectList)
    .option('--account <name>', 'only of this account; repeatable, or with commas', collectList)
    .addOption(
      new Option('--connection <state>', 'only in this state').choices(['connected', 'disconnected']),
    )
    .option(
      '--not-synced <duration>',
      'only without a sync that is known to have succeeded for this long: 3d',
    )
    .option(
      '--not-backed-up <duration>',
      'only without a backup that is known to have succeeded for this long: 7d',
    )
    .addOption(someChoices('--outcome <outcome>', 'only whose last run ended so for it; none: no run', ends))
    .option('--findings', 'only with open findings')
    .option('--other', 'staging copies, clients and what else runs worked on, in place of sites')
    .option('--limit <n>', 'maximum number of sites', wholeNumber(1, 100_000), 50)
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/sites.ts')).sites));
  sites
    .command('show')
    .argument('<site>', 'its id, its address, or a part of one')
    .description('show a site: what the service showed of it, its policies, open findings and last results')
    .option('--account <name>', 'only a site of this account')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/site.ts')).showSite));
}

/** What is wrong in the fleet. */
export function addFindingsCommand(program: Program, actionOf: ActionOf): void {
  const findings = program
    .command('findings')
    .description('list what is wrong in the fleet: the findings of all policies, the most severe first')
    .addOption(someChoices('--severity <severity>', 'only with this severity', severities))
    .addOption(someChoices('--state <state>', 'only in this state (default: not resolved)', findingStates))
    .option('--policy <name>', 'only of this policy; repeatable, or with commas', collectList)
    .option('--account <name>', 'only of this account; repeatable, or with commas', collectList)
    .option('--search <text>', 'only with this in the site, the subject or the message')
    .option('--since <when>', 'only those first seen since this time: 31d, 2026-11-01')
    .option('--limit <n>', 'maximum number of findings', wholeNumber(1, 1_000), 50)
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/findings.ts')).findings));
  findings
    .command('acknowledge')
    .argument('<policy>', 'name of the policy that reports it')
    .argument('[site]', 'id of the site or other target; without it, all that the filters match')
    .description('acknowledge open findings of a policy, on a site or all that match: they do not count')
    .requiredOption('--reason <text>', 'why, for everyone who sees the finding')
    .addOption(someChoices('--severity <severity>', 'without a site: only with this severity', severities))
    .option('--search <text>', 'without a site: only with this in the site, the subject or the message')
    .option('--all', 'without a site: all open findings of the policy')
    .option('--about <subject>', 'only the finding about this; default: all on the site')
    .option('--account <name>', 'account of the site', 'default')
    .option(
      '--until <when>',
      'count them again from this time: 2026-12-01T08:00Z, or 7d (default: when they come back)',
    )
    .option('--for <duration>', 'count them again after this duration: 7d')
    .action(actionOf(async () => (await import('../commands/findings.ts')).acknowledge));
  findings
    .command('unacknowledge')
    .argument('<policy>', 'name of the policy that reports it')
    .argument('<site>', 'id of the site or other target')
    .description('count acknowledged findings again')
    .option('--about <subject>', 'only the finding about this; default: all on the site')
    .option('--account <name>', 'account of the site', 'default')
    .addOption(reason())
    .action(actionOf(async () => (await import('../commands/findings.ts')).unacknowledge));
}

/** Notifications: whether they arrived, and sending them. */
export function addNotifyCommands(program: Program, actionOf: ActionOf): void {
  const notify = program
    .command('notify')
    .description('list notifications, send them again, and test receivers');
  notify
    .command('list')
    .description('list notifications, newest first: to whom, whether they arrived, and why not')
    .addOption(someChoices('--state <state>', 'only those in this state', deliveryStates))
    .option(
      '--to <name>',
      'only those to this name under notifications in the configuration; repeatable, or with commas',
      collectList,
    )
    .option('--since <when>', 'only those since this time: 3d, 2026-11-01')
    .option('--limit <n>', 'maximum number of notifications', wholeNumber(1, 1_000), 50)
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/notify.ts')).listNotifications));
  notify
    .command('resend')
    .argument('[notification...]', 'ids of notifications, as "caretaker notify list" shows them')
    .description('send notifications again, with the same id; a daemon does so')
    .option('--dead', 'without ids: all that were given up')
    .option(
      '--to <name>',
      'with --dead: only those to this receiver; repeatable, or with commas',
      collectList,
    )
    .option('--since <when>', 'with --dead: only those since this time: 3d, 2026-11-01')
    .addOption(reason())
    .action(actionOf(async () => (await import('../commands/notify.ts')).resendNotifications));
  notify
    .command('test')
    .argument('<name>', 'name under notifications in the configuration')
    .description('send a test message to a receiver now, once, and show whether it arrived')
    .action(actionOf(async () => (await import('../commands/notify.ts')).testReceiver));
}

/** Commands for the API, the sandbox, the request budget, the queues and the setup. */
export function addServiceCommands(program: Program, actionOf: ActionOf): void {
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
    .option('--file <file>', 'file to write a PDF to')
    .addOption(output('json'))
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/api.ts')).api));
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
    .action(actionOf(async () => (await import('../commands/sandbox.ts')).sandbox));
  const accounts = program
    .command('accounts')
    .description('list the accounts, and the services that their records belong to')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/accounts.ts')).accounts));
  accounts
    .command('move')
    .argument('<name>', 'name of the account')
    .description(
      'let the records belong to the address in the configuration, after the service has moved there',
    )
    .option('-y, --yes', 'move it without asking')
    .addOption(reason())
    .action(actionOf(async () => (await import('../commands/accounts.ts')).moveAccount));
  program
    .command('budget')
    .description('show the request budget of each account, and a forecast of the next 24 hours')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/budget.ts')).budget));
  program
    .command('dashboard')
    .description('print the address of the dashboard, with a link that signs in where no password is set')
    .action(actionOf(async () => (await import('../commands/dashboard.ts')).dashboard));
  const queues = program
    .command('queues')
    .description('show what each queue has and does, who works on it, and which are paused')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/queues.ts')).showQueues));
  queues
    .command('pause')
    .addArgument(queue())
    .description('pause a queue: workers of every process take no more entries of it')
    .addOption(reason())
    .action(actionOf(async () => (await import('../commands/queues.ts')).pauseQueues));
  queues
    .command('resume')
    .addArgument(queue())
    .description('resume paused queues')
    .addOption(reason())
    .action(actionOf(async () => (await import('../commands/queues.ts')).resumeQueues));
  program
    .command('backup')
    .argument('<file>', 'new file to write: gzip, readable by you only')
    .description('write the records into a file while work goes on')
    .addOption(reason())
    .action(actionOf(async () => (await import('../commands/backup.ts')).backup));
  program
    .command('restore')
    .argument('<file>', 'file that "caretaker backup" wrote')
    .description('restore the records of a backup; holds the runs that had not ended then')
    .option('--replace', 'delete the records that are in Redis')
    .addOption(reason())
    .action(actionOf(async () => (await import('../commands/backup.ts')).restore));
  program
    .command('doctor')
    .description('check the configuration, Redis, the API and the token')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/doctor.ts')).doctor));
}

const role = () =>
  new Option('--role <role...>', 'roles, without limits').choices(roles).default<Role[]>(['viewer']);

/** Commands that make users and tokens for `access:` in the configuration. */
export function addAccessCommands(program: Program, actionOf: ActionOf): void {
  const user = program
    .command('user')
    .description('make hashes of passwords and tokens for "access" in the configuration');
  user
    .command('add')
    .argument('<name>')
    .description('ask for the password of a new user, and print the lines for the configuration')
    .option('--stdin', 'read the password from standard input')
    .addOption(role())
    .action(actionOf(async () => (await import('../commands/user.ts')).addUser));
  user
    .command('passwd')
    .argument('<name>')
    .description('ask for a new password of a user, and print its hash')
    .option('--stdin', 'read the password from standard input')
    .action(actionOf(async () => (await import('../commands/user.ts')).changePassword));
  user
    .command('token')
    .argument('<name>')
    .description('make a token for a program, print it once, and print its hash')
    .addOption(role())
    .action(actionOf(async () => (await import('../commands/user.ts')).makeToken));
}

/** Commands for editors and shells, and the demo. */
export function addShellCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('explain')
    .argument(
      '[word]',
      'a reason, error code, key, operation of the service, CEL function or job (default: list all)',
    )
    .description('explain a word: what it means, what to do, its type and default, an example')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/explain.ts')).explain));
  program
    .command('schema')
    .argument('[what]', 'policy, config or tests (default: all, in one object)')
    .description('print the JSON Schema of policy, configuration and test files')
    .option('--write <folder>', 'write policy.json, config.json and tests.json into this folder instead')
    .action(actionOf(async () => (await import('../commands/schema.ts')).schema));
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .argument('[word...]', 'words typed so far; used by the completion script')
    .description('print a shell completion script: source <(caretaker completion bash)')
    .action(
      actionOf(async () => {
        const { completion } = await import('../commands/completion.ts');
        return (terminal: Terminal, shell: string, words: string[], _options: unknown) =>
          completion(terminal, shell, words, program);
      }),
    );
  program
    .command('mcp')
    .description('serve tools for AI assistants (MCP) on standard input and output: they read and propose')
    .option('--plans <folder>', 'folder in which plans are saved', '.')
    .action(actionOf(async () => (await import('../commands/mcp.ts')).mcp));
  program
    .command('demo')
    .description('run the example policies against a simulated account with 60 sites')
    .action(actionOf(async () => (await import('../commands/demo.ts')).demo));
}
