/**
 * `node call.mjs <module.ts> <exported function> [argument]...` calls that function in a separate process,
 * and prints its result as one line of JSON. It runs until its standard input ends. For tests that kill a
 * process, or need several of them: Node 20 does not read TypeScript, and a separate build is easy to forget.
 */
import { runnerImport } from 'vite';

const [file, name, ...args] = process.argv.slice(2);
const { module } = await runnerImport(file, { configFile: false, logLevel: 'error' });
process.stdout.write(`${JSON.stringify(await module[name](...args)) ?? 'null'}\n`);
process.stdin.resume();
