import { listFaults } from '../../sandbox/faults/names.ts';
import type { Terminal } from '../output/terminal.ts';
import { type ActionOf, collect, json, output, type Program, wholeNumber } from './root.ts';

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
  program
    .command('budget')
    .description('show the request budget of each account, and a forecast of the next 24 hours')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/budget.ts')).budget));
  const queues = program
    .command('queues')
    .description('show the number of entries in each queue, and which queues are paused')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/queues.ts')).showQueues));
  queues
    .command('resume')
    .description('resume every queue that another BullMQ client has paused')
    .action(actionOf(async () => (await import('../commands/queues.ts')).resumeQueues));
  program
    .command('doctor')
    .description('check the configuration, Redis, the API and the token')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/doctor.ts')).doctor));
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
    .command('demo')
    .description('run the example policies against a simulated account with 60 sites')
    .action(actionOf(async () => (await import('../commands/demo.ts')).demo));
}
