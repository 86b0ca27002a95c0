/** The tables of the page about access are generated from the routes and commands; `npm run docs` writes them. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isPermitted, type Role, roles } from '../../src/access/principal.ts';
import { type AnyCommand, methodOf } from '../../src/control/command.ts';
import { commands } from '../../src/control/commands.ts';
import { API } from '../../src/dashboard/api/commands.ts';
import {
  deliveryInPath,
  everything,
  policyInPath,
  queueInPath,
  type Rule,
  receiverInPath,
  runInPath,
} from '../../src/dashboard/auth/guard.tsx';
import { BOARD_PATH } from '../../src/dashboard/http/board.ts';
import { boardRule, routes, unknownApiRule, unknownPageRule } from '../../src/dashboard/http/routes.ts';
import { row, withRows } from './table.ts';

const mark = (allowed: boolean): string => (allowed ? 'yes' : '–');
const byRole = (needed: Role): string[] =>
  roles.map((role) => mark(isPermitted({ kind: 'user', name: 'x', grants: [{ role }] }, needed)));

const limitsOf = ({ access, subject }: Rule): string => {
  if (access === 'open') return '';
  if (subject === everything || subject === receiverInPath || subject === queueInPath)
    return 'only without limits';
  if (subject === policyInPath) return 'of the policy';
  if (subject === runInPath) return 'of the run';
  if (subject === deliveryInPath) return 'of the delivery';
  return subject ? 'of the subject' : 'shows what the limits cover';
};

/** The role of a command is checked where it is carried out, so that the audit log has what is refused. */
const commandsByAddress = new Map(
  commands.map((command) => [`${methodOf(command)} ${API}${command.path}`, command]),
);

function limitsOfCommand(command: AnyCommand): string {
  const { path } = command;
  if (path.includes('{run}')) return 'of the run';
  if (path.includes('{policy}')) return 'of the policy';
  if (path.includes('{receiver}')) return 'only without limits';
  if (path.includes('{delivery}')) return 'of the delivery';
  if (path.includes('{announcement}')) return 'of the announcement';
  return methodOf(command) === 'GET' ? 'shows what the limits cover' : 'of what it concerns';
}

function rowOf(address: string, rule: Rule): string {
  const command = commandsByAddress.get(address);
  if (command) return row([`\`${address}\``, '–', ...byRole(command.role), limitsOfCommand(command), 'yes']);
  return row([
    `\`${address}\``,
    mark(rule.access === 'open'),
    ...(rule.access === 'open' ? roles.map(() => 'yes') : byRole(rule.access)),
    limitsOf(rule),
    mark(rule.programs === true || rule.access === 'open'),
  ]);
}

const addresses = [
  ...routes.map(({ method, path, ...rule }) => rowOf(`${method} ${path.replace(/:(\w+)/g, '{$1}')}`, rule)),
  rowOf(`any ${BOARD_PATH}/...`, boardRule),
  rowOf('any /api/...', unknownApiRule),
  rowOf('any other', unknownPageRule),
];
const acts = commands.map(({ name, role, summary }) => row([`\`${name}\``, ...byRole(role), summary]));

test('docs/access.md has every address and every command with its roles', async () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/access.md'), 'utf8');
  const headOfAddresses = row(['address', 'not signed in', ...roles, 'limits', 'programs']);
  const headOfActs = row(['command', ...roles, 'what it does']);
  const written = withRows(withRows(page, headOfAddresses, addresses), headOfActs, acts);
  await expect(written).toMatchFileSnapshot('../../docs/access.md');
});
