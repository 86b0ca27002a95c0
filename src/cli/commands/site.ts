import type { OpenRecords } from '../../app/open-records.ts';
import { isoMinute } from '../../clock.ts';
import { showSite as show } from '../../control/commands/show-site.ts';
import { statesOf } from '../../control/sites.ts';
import { visibleLine } from '../../text.ts';
import { withClient } from '../client.ts';
import { type GlobalOptions, settingsOf } from '../context.ts';
import { type List, showList } from '../output/list.ts';
import type { Terminal } from '../output/terminal.ts';

/** Shows one site: what the service showed of it, its policies, open findings and results. */
export const showSite = (
  terminal: Terminal,
  site: string,
  options: GlobalOptions & { account?: string },
): Promise<number> =>
  withClient('caretaker', terminal, options, async ({ read, here }) => {
    const { account } = options;
    const all = here ? await policiesHere(terminal, options, here) : [];
    const more = { maxReadingMs: Number.POSITIVE_INFINITY, policies: () => all };
    const found: SiteAnswer = await read(show, { site, account }, () => ({}) as SiteAnswer, more);
    const { id, label, runs } = found;
    const { paint, data } = terminal;
    const rows = runs.map((one) => ({ ...one, site: id }));
    const section = (head: string, lines: string[]) =>
      data(
        [paint('bold', head), ...(lines.length > 0 ? lines : ['none']).map((line) => `  ${line}`)].join('\n'),
      );
    const above = () => {
      section(`${label || id} ${paint('dim', `${id}, account ${found.account}`)}`, factsOf(found));
      section('Policies that have worked on it, or whose last plan has it', found.policies.map(policyLine));
      section('Open findings', found.findings.map(findingLine));
      data(paint('bold', 'Results, newest first'));
    };
    const none = 'No stored run has worked on it.';
    return showList(terminal, options, list, { rows, value: found, lines: runs, above, none });
  });

async function policiesHere(terminal: Terminal, options: GlobalOptions, { records, clock }: OpenRecords) {
  const { knownPolicies } = await import('../effective-policies.ts');
  return knownPolicies(settingsOf(terminal, options), records, clock.now());
}

type SiteAnswer = ReturnType<(typeof show)['toAnswer']>;

function factsOf({ site, read_at: at, not_newer: why, freezes }: SiteAnswer): string[] {
  const { created_at: snapshotAt, status } = site?.latest_snapshot ?? {};
  const facts: [string, string | null | undefined][] = [
    ['title', site?.title],
    ['client', site?.client?.name],
    ['tags', site?.tags?.map(({ name }) => name).join(', ')],
    ['state', site ? statesOf(site).join(', ') : at && 'not in the account'],
    ['last sync', site?.last_sync_at === null ? 'never' : site?.last_sync_at && isoMinute(site.last_sync_at)],
    ['backups', site?.backups_enabled === false ? 'off' : undefined],
    ['latest snapshot', snapshotAt && [isoMinute(snapshotAt), status].filter(Boolean).join(' ')],
    ['PHP', site?.php_version],
    ...freezes.map((sentence): [string, string] => ['frozen', sentence]),
    ['as of', [at ? isoMinute(at) : 'never read', why].filter(Boolean).join(': ')],
  ];
  return facts.flatMap(([name, value]) =>
    value ? [`${name.padEnd('latest snapshot'.length)}  ${visibleLine(value)}`] : [],
  );
}

const policyLine = ({ policy, plan, next, skipped, ring }: SiteAnswer['policies'][number]): string =>
  [
    policy,
    next && `next ${isoMinute(next)}`,
    skipped && `skipped: ${skipped}`,
    ring && ringText(ring),
    plan && `last plan: ${plan}`,
  ]
    .filter(Boolean)
    .join(', ');

const findingLine = ({ severity, about, message, ...rest }: SiteAnswer['findings'][number]): string =>
  `${severity.padEnd('warning'.length)}  ${about}: ${message} (${rest.policy}, since ${isoMinute(rest.since)}, last seen ${isoMinute(rest.last_seen_at)})`;

type Result = SiteAnswer['runs'][number] & { site: string };

const list: List<Result> = {
  table: {
    started: ({ created_at }) => isoMinute(created_at),
    run: ({ run }) => run,
    item: ({ target, site }) => (target.id === site ? '' : target.label),
    outcome: ({ target }) => target.outcome ?? target.state,
    reason: ({ target }) => target.reason,
    detail: ({ target }) => target.detail,
  },
  shrink: ['detail: 16', 'item: 0', 'detail: 0'],
  csv: ['run policy created_at target.id target.label target.outcome target.reason target.detail'],
};

const ringText = ({ ring, took }: NonNullable<SiteAnswer['policies'][number]['ring']>): string =>
  `ring ${ring}, took ${took.map(({ item, version, at }) => `${item} ${version} at ${isoMinute(at)}`).join(', ') || 'nothing yet'}`;
