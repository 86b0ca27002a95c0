/** Checks that what a freeze names exists: a misspelt name would freeze nothing, and no one would notice. */
import type { Client } from '../client/client.ts';
import { allItems } from '../client/pages.ts';
import { CaretakerError } from '../errors.ts';
import type { Registry } from '../job/registry.ts';
import type { FreezeScope } from '../records/freeze-scope.ts';
import { suggestionFor } from '../suggest.ts';
import { matchesPattern } from '../text.ts';
import { InvalidRequestError } from './errors.ts';
import type { AllPolicies } from './policies.ts';

/** What knows the names: the settings, the kinds of jobs, the accounts themselves, and the active policies. */
export interface NameDeps extends Partial<AllPolicies> {
  settings: { accounts: Readonly<Record<string, unknown>> };
  registry: Pick<Registry, 'names'>;
  link(account: string): { client: Client };
}

export interface FreezeDeps extends NameDeps {
  /** Records the next times of what recurs (`schedule/maintenance.ts`, which loads much). */
  noteMaintenance(): Promise<void>;
}

/**
 * Looks up the names of a scope. A client or a tag costs a request per 100 of them in each account. Gives a sentence
 * when an account could not be asked, so that its names are not checked.
 *
 * @throws {InvalidRequestError} for a name that does not exist.
 */
export async function needNames(
  { account, policy, job, client, tag }: FreezeScope,
  { settings, registry, link, policies }: NameDeps,
): Promise<string | undefined> {
  const accounts = Object.keys(settings.accounts);
  needOneOf('account', account, accounts);
  needOneOf('job', job, registry.names());
  const named = policies?.().map(({ name }) => name);
  if (policy !== undefined && named && !named.some((name) => matchesPattern(name, policy)))
    needOneOf('policy', policy, named);
  if (client === undefined && tag === undefined) return undefined;
  const clients: Named[] = [];
  const tags: Named[] = [];
  for (const name of account === undefined ? accounts : [account]) {
    try {
      const api = link(name).client;
      if (client !== undefined) clients.push(...needOnlyOne('client', client, await namesOfClients(api)));
      if (tag !== undefined) tags.push(...needOnlyOne('tag', tag, await namesOfTags(api)));
    } catch (error) {
      if (!(error instanceof CaretakerError) || error instanceof InvalidRequestError) throw error;
      return `The account ${name} could not be asked whether it has them, so a misspelt name is not noticed: ${error.message}`;
    }
  }
  // As the planner compares them: upper and lower case are the same.
  needOneOf(
    'client',
    client,
    clients.flatMap(({ names }) => names),
    lowerCase,
  );
  needOneOf(
    'tag',
    tag,
    tags.flatMap(({ names }) => names),
    lowerCase,
  );
  return undefined;
}

const lowerCase = (text: string): string => text.toLowerCase();

function needOneOf(
  what: string,
  name: string | undefined,
  names: readonly string[],
  compared: (text: string) => string = (text) => text,
): void {
  if (name === undefined || names.some((one) => compared(one) === compared(name))) return;
  const hint = suggestionFor(name, names);
  throw new InvalidRequestError(`There is no ${what} "${name}"${hint === undefined ? '.' : `: ${hint}`}`);
}

/** Something of an account, with its id among its names. */
interface Named {
  id: string;
  names: string[];
}

/** As in a policy, a name that several have is refused: the freeze would hold for all of them. */
function needOnlyOne(what: string, name: string, all: readonly Named[]): readonly Named[] {
  const found = all.filter(({ names }) => names.some((one) => lowerCase(one) === lowerCase(name)));
  if (found.length < 2 || found.some(({ id }) => id === name)) return all;
  const ids = found.map(({ id }) => `"${id}"`).join(', ');
  throw new InvalidRequestError(
    `Several ${what}s are called "${name}": ${ids}. Use the id of one of them, and one freeze for each.`,
  );
}

const asPerson = { requestClass: 'person' } as const;

async function namesOfClients(api: Client): Promise<Named[]> {
  const all: Named[] = [];
  for await (const one of allItems('listClients', (page) => api.call('listClients', page, asPerson)))
    all.push(named(one.id, one.company_name, `${one.first_name} ${one.last_name}`));
  return all;
}

async function namesOfTags(api: Client): Promise<Named[]> {
  const all: Named[] = [];
  for await (const one of allItems('listTags', (page) => api.call('listTags', page, asPerson)))
    all.push(named(one.id, one.name));
  return all;
}

const named = (id = '', ...names: (string | null | undefined)[]): Named => ({
  id,
  names: [id, ...names].flatMap((name) => name || []),
});
