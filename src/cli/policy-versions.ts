/** The policies that the files here are compared with: of the daemons, of a folder, or of a git revision. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import type { Loaded } from '../policy/load-policies.ts';
import { Policy } from '../policy/policy.ts';
import { keys } from '../records/keys.ts';
import { checkRecord } from '../records/parse-record.ts';
import type { Records } from '../records/records.ts';
import { daemonOf } from '../schedule/policy-agreement.ts';
import { activeVersion } from '../schedule/versions.ts';
import type { Settings } from '../settings/settings.ts';
import { shortFile } from '../yaml/diagnostic.ts';
import { UsageError } from './exit.ts';

/** Policies of one origin. */
export interface PolicyVersions {
  /** What messages call the origin: `the running daemons`, `HEAD`. */
  origin: string;
  policies: readonly Policy[];
  /** Names of policies that exist there and whose content is not known, and why. */
  unknown: ReadonlyMap<string, string>;
}

/**
 * The policies that the running daemons fire.
 *
 * @throws {UsageError} when no daemon with the role scheduler is running: then nothing is active.
 */
export async function activePolicies(
  { presence }: Pick<Records, 'presence'>,
  now: number,
): Promise<PolicyVersions> {
  const running = (await presence.running(now)).filter(({ roles }) => roles.includes('scheduler'));
  const daemons = (await Promise.all(running.map((one) => daemonOf({ presence }, one)))).flatMap(
    (one) => one ?? [],
  );
  if (daemons.length === 0)
    throw new UsageError(
      'No daemon with the role scheduler is running, so no policies are active. Compare with a folder or a git revision: --against HEAD',
    );
  const contents = await Promise.all(daemons.map(({ id }) => presence.policyContents(id)));
  const policies: Policy[] = [];
  const unknown = new Map<string, string>();
  for (const name of new Set(daemons.flatMap(({ versions }) => [...versions.keys()]))) {
    const hash = activeVersion(name, daemons);
    const held = contents.flatMap((one) =>
      one.has(name) ? [checkRecord(Policy, one.get(name), keys.presence)] : [],
    );
    const policy = held.find((one) => one.hash === hash);
    if (policy) policies.push(policy);
    else unknown.set(name, 'the daemon has not published its content');
  }
  return { origin: 'the running daemons', policies, unknown };
}

/** Reads the policies of files as the files here are read. */
type Load = (dir: string) => Promise<Loaded>;

/**
 * The policies of a folder, or those that the policies folder had in a git revision.
 *
 * @throws {UsageError} when there is neither such a folder nor such a revision.
 */
export async function policiesAgainst(what: string, settings: Settings, load: Load): Promise<PolicyVersions> {
  if (isFolder(what)) return versionsOf(await load(what), shortFile(what));
  const folder = mkdtempSync(join(tmpdir(), 'caretaker-revision-'));
  try {
    writeRevision(what, settings.policiesDir, folder);
    return versionsOf(await load(folder), what);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function versionsOf({ policies, broken, findings }: Loaded, origin: string): PolicyVersions {
  const unknown = new Map(broken.map(({ name }) => [name, `its file has errors in ${origin}`]));
  if (findings.length > 0 && unknown.size === 0) unknown.set('', `a file has errors in ${origin}`);
  return { origin, policies, unknown };
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Writes the files that the policies folder had in a revision. */
function writeRevision(revision: string, policiesDir: string, target: string): void {
  const commit = git(policiesDir, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${revision}^{commit}`,
  ]);
  const root = git(policiesDir, ['rev-parse', '--show-toplevel']);
  if (commit === undefined || root === undefined)
    throw new UsageError(
      `"${revision}" is neither a folder nor a revision of the git repository of ${shortFile(policiesDir)}.`,
    );
  // Commands that read a tree are run at the top: below it they would show only what is below in the tree.
  const top = root.trim();
  const folder = relative(top, realpathSync(policiesDir));
  const tree = `${commit.trim()}:${folder === '' ? '' : `${folder}/`}`;
  const names = git(top, ['ls-tree', '-z', '--name-only', tree]);
  if (names === undefined) throw new UsageError(`The revision "${revision}" has no folder ${folder}.`);
  for (const name of names.split('\0').filter((one) => /\.ya?ml$/.test(one))) {
    const text = git(top, ['cat-file', 'blob', `${tree}${name}`]);
    if (text !== undefined) writeFileSync(join(target, basename(name)), text);
  }
}

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** The output of a git command in a folder; undefined when it fails. */
function git(folder: string, args: readonly string[]): string | undefined {
  const { status, stdout, error } = spawnSync('git', ['-C', folder, ...args], {
    encoding: 'utf8',
    maxBuffer: MAX_FILE_BYTES,
  });
  if (error && 'code' in error && error.code === 'ENOENT')
    throw new UsageError('git is not installed, so only folders can be compared.');
  return status === 0 ? stdout : undefined;
}
