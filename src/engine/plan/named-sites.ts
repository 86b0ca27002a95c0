/** Sites that a person names by their address, as plans and lists show it, in place of their id. */
import { domainToUnicode } from 'node:url';
import type { Client } from '../../client/client.ts';
import { allItems, refuseIncomplete } from '../../client/pages.ts';
import type { Registry } from '../../job/registry.ts';
import { sourceOf } from '../../job/source.ts';
import type { Policy } from '../../policy/policy.ts';
import { jobOf } from '../../policy/policy-job.ts';
import { UnknownNameError } from './directory.ts';

interface Deps {
  registry: Pick<Registry, 'get'>;
  link(account: string): { client: Pick<Client, 'call'> };
}

/**
 * The ids of targets, of which those of a policy over sites may be addresses: with or without `https://`, `www.` and a
 * slash at the end, in Unicode or Punycode. Costs a request for each address,
 * or two, and more for over a hundred sites on one host. Another text stays as it is.
 *
 * @throws {UnknownNameError} for an address that no site has, or several have.
 * @throws {IncompleteListError} when not all sites arrived.
 */
export async function idsOfTargets(
  { registry, link }: Deps,
  policy: Policy,
  named: readonly string[],
): Promise<string[]> {
  const job = jobOf(registry, policy);
  const list = job && (policy.select.forEach?.list ?? sourceOf(job, policy.select).from);
  if (list !== 'listSites' || !named.some(isAddress)) return [...named];
  const { client } = link(policy.account);
  const ids: string[] = [];
  for (const text of named) {
    const id = isAddress(text) ? await idOfSite(client, policy.account, text) : undefined;
    if (id === undefined && /^https?:/i.test(text.trim()))
      throw new UnknownNameError(`The account "${policy.account}" has no site with the address ${text}.`);
    ids.push(id ?? text);
  }
  return ids;
}

const isAddress = (text: string): boolean =>
  /^https?:\/\/\S+$/i.test(text.trim()) ||
  /^[^\s/@:?#]+\.[\p{L}\d-]{2,}\.?(?::\d+)?(?:\/\S*)?$/u.test(text.trim());

/** The same text for all ways to write an address; undefined for none. */
export function plainAddress(text: string): string | undefined {
  const written = text.trim();
  const address = /^https?:\/\//i.test(written) ? written : `https://${written}`;
  if (!URL.canParse(address)) return undefined;
  const { hostname, port, pathname } = new URL(address);
  const host = hostname.replace(/^www\./, '').replace(/\.$/, '');
  return `${host}${port === '' ? '' : `:${port}`}${pathname.replace(/\/+$/, '')}`;
}

/** The id of the site with an address; undefined when no site has it. The whole list is read: a part shows only who is there. */
async function idOfSite(
  client: Pick<Client, 'call'>,
  account: string,
  text: string,
): Promise<string | undefined> {
  const wanted = plainAddress(text);
  if (wanted === undefined) return undefined;
  const [host = ''] = wanted.split(/[:/]/);
  for (const part of new Set([host, domainToUnicode(host)])) {
    const filters = { url: { contains: part } };
    const fetchPage = (page: object) =>
      client.call('listSites', { filters, ...page }, { requestClass: 'person' });
    const ids: string[] = [];
    for await (const { id, url } of allItems('listSites', fetchPage, { onIncomplete: refuseIncomplete }))
      if (plainAddress(url ?? '') === wanted) ids.push(id);
    if (ids.length > 1)
      throw new UnknownNameError(
        `Several sites of the account "${account}" have the address ${text}: ${ids.join(', ')}. Use the id of one of them.`,
      );
    if (ids[0] !== undefined) return ids[0];
  }
  return undefined;
}
