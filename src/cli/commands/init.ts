/**
 * Sets up a folder: writes the shipped configuration, policies and tests, the schemas for editors, and a
 * README. Existing files are not changed, except the schemas. Policies that change anything come switched off, and
 * a folder that has a policies folder gets none, so that what a person deleted does not come back.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { CaretakerError, systemCodeOf } from '../../errors.ts';
import { exit } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';
import { writeSchemas } from '../schemas.ts';

const shipped = dirname(createRequire(import.meta.url).resolve('#root/config/caretaker.yaml'));
/** Not for git: the data of this machine, and the file with the token. */
const ignored = ['.caretaker/', '.env'];

/** The folder is not writable. */
export class FolderUnwritableError extends CaretakerError {
  readonly code = 'FOLDER_UNWRITABLE';
}

/** Writes the files of `config/` that do not exist yet into the current folder, without the examples. */
export async function init(terminal: Terminal): Promise<number> {
  const { message, data } = terminal;
  const folder = process.cwd();
  const hasPolicies = existsSync(join(folder, 'config/policies'));
  const files = readdirSync(shipped, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml') && !file.split(sep).includes('examples'))
    .filter((file) => !hasPolicies || dirname(file) === '.')
    .sort();
  try {
    for (const file of files) data(copied(file, folder));
    if (hasPolicies) data('kept     config/policies (already exists; nothing is added to it)');
    for (const { file, isWritten } of await writeSchemas(join(folder, 'config/schemas')))
      data(
        `${isWritten ? 'written ' : 'kept    '} ${relative(folder, file)}${isWritten ? '' : ' (unchanged)'}`,
      );
    data(readmeIn(folder));
    data(ignoredIn(join(folder, '.gitignore')));
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    throw new FolderUnwritableError(`${folder} cannot be written (${code}).`, { cause: error });
  }
  message(
    '\nREADME.md describes the first steps: set CARETAKER_BASE_URL=https://.../api/v6 and CARETAKER_API_TOKEN=... in a file .env in this folder, then run:',
  );
  message('  caretaker doctor               # checks the configuration, Redis and the API');
  message('  caretaker plan nightly-sync    # shows what the policy would do; changes nothing');
  if (!hasPolicies)
    message(
      '\nPolicies that change anything are switched off: delete the line "enabled: false" of a policy when it does what you want.',
    );
  return exit.ok;
}

function copied(file: string, folder: string): string {
  const name = join('config', file);
  const target = join(folder, name);
  if (existsSync(target)) return `kept     ${name} (already exists)`;
  const text = readFileSync(join(shipped, file), 'utf8');
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text, { flag: 'wx' });
  return `written  ${name}${/^ +enabled: false/m.test(text) ? ' (switched off: delete its line "enabled: false" to switch it on)' : ''}`;
}

function readmeIn(folder: string): string {
  const file = join(folder, 'README.md');
  if (existsSync(file)) return 'kept     README.md (already exists)';
  writeFileSync(file, projectReadme);
  return 'written  README.md';
}

function ignoredIn(file: string): string {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const present = before.split('\n').map((line) => line.trim().replace(/^\//, '').replace(/\/$/, ''));
  // The folder may be the one into which npm has installed Caretaker.
  const installed = existsSync(join(dirname(file), 'node_modules')) ? ['node_modules/'] : [];
  const missing = [...ignored, ...installed].filter((name) => !present.includes(name.replace(/\/$/, '')));
  if (missing.length === 0) return 'kept     .gitignore (already ignores .caretaker/ and .env)';
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  appendFileSync(file, `${gap}${missing.join('\n')}\n`);
  return `written  .gitignore (now ignores ${missing.join(' and ')})`;
}

/** The README that `caretaker init` writes into a project folder. */
const projectReadme = `# Site maintenance

Policies for [Caretaker](config/caretaker.yaml): what is done to the sites of an account, when, and within which limits.

| file | content |
|---|---|
| \`config/caretaker.yaml\` | accounts, Redis, the dashboard, receivers of notifications |
| \`config/policies/*.yaml\` | policies: when, which targets, which job, which limits |
| \`config/tests/*.yaml\` | tests: what a policy selects and requests, without network |
| \`config/schemas/*.json\` | JSON Schemas, with which editors complete and check these files |
| \`.env\` | address and token of the account; never in git |
| \`.caretaker/\` | the data of this machine; never in git |

## First steps

1. Write the address and the token of the account into \`.env\`:

   \`\`\`sh
   CARETAKER_BASE_URL=https://example.com/api/v6
   CARETAKER_API_TOKEN=...
   \`\`\`

   Without an account, \`caretaker sandbox\` serves a simulated one, and prints the values to export, with a data folder of
   its own: the records of an account belong to one service.

2. \`caretaker doctor\` checks the configuration, Redis and the account.
3. \`caretaker plan nightly-sync\` shows what a policy would do. It changes nothing.
4. \`caretaker run nightly-sync\` runs it once. \`caretaker daemon\` runs all policies when they are due,
   except those with \`enabled: false\`. The policies that change anything come with that line: delete it when a policy does what you want.

## Change a policy

\`\`\`sh
caretaker validate        # checks the configuration and the policies
caretaker test            # runs the tests of the policies
caretaker policies diff --against HEAD   # what the change does: keys, scheduled times, targets
\`\`\`

A running daemon reads a file when it is saved, so saving is deploying. To look first, edit in a second checkout, and compare there. All
three need no account, so they can check a pull request. \`caretaker explain <word>\` explains a key, a reason or an error.

An editor with the YAML language server uses the schemas: the first line of each file names its own. After an upgrade of
Caretaker, \`caretaker schema --write config/schemas\` writes them again.
`;
