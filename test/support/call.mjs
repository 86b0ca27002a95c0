/**
 * `node call.mjs <module.ts> <exported function> [argument]...` calls that function in a process of its own,
 * and prints what it resolves with as one line of JSON; it stays until its standard input ends. For tests
 * that kill a process, or need several of them: Node 20 does not read TypeScript, and a build would be a step
 * to forget.
 */
import { runnerImport } from 'vite';

const [file, name, ...args] = process.argv.slice(2);
const { module } = await runnerImport(file, { configFile: false, logLevel: 'error' });
process.stdout.write(`${JSON.stringify(await module[name](...args)) ?? 'null'}\n`);
process.stdin.resume();
