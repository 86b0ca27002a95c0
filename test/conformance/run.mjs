/**
 * `npm run conformance`: the contract cases against the sandbox in this process; with `--base URL --token T`
 * against that service. They create, change and delete items there: use an account for testing.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { argv, execPath, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { colorlessInPipes } from '../../src/cli/output/colorless.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values, positionals } = parseArgs({
  args: argv.slice(2),
  options: { base: { type: 'string' }, token: { type: 'string' } },
  allowPositionals: true,
});

const service = {
  ...(values.base === undefined ? {} : { CONFORMANCE_BASE: values.base }),
  ...(values.token === undefined ? {} : { CONFORMANCE_TOKEN: values.token }),
};
// Over a URL all cases share one account, so files run one after the other.
const order = values.base === undefined ? [] : ['--no-file-parallelism'];
const files = positionals.length > 0 ? positionals : ['test/conformance'];
const { status } = spawnSync(
  execPath,
  [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--reporter=verbose', ...order, ...files],
  { cwd: root, stdio: 'inherit', env: { ...colorlessInPipes(), ...service } },
);
exit(status ?? 1);
