import type { Child } from 'hono/jsx';
import type { ListedFinding } from '../../control/findings.ts';
import { parentIdIn } from '../../job/candidates.ts';
import { stepNamesOf } from '../../run/steps.ts';
import { Badge } from '../components/badge.tsx';
import { Why } from '../components/contexts.tsx';
import { pathWith } from '../components/filter-bar.tsx';
import { Findings } from '../components/findings.tsx';
import type { IconName } from '../components/icon-shapes.ts';
import { showPage } from '../components/layout.tsx';
import { policyPath, runPath } from '../components/paths.ts';
import { Requests } from '../components/requests.tsx';
import { siteName } from '../components/site-name.ts';
import { Steps } from '../components/steps.tsx';
import { TargetBadge } from '../components/target-line.tsx';
import { Sentence, span, Time } from '../components/time.tsx';
import { type Entry, Timeline } from '../components/timeline.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import type { TargetRun } from '../queries/search-reader.ts';
import { type SiteFacts, type SiteState, siteState } from '../queries/site-state.ts';
import { sendProblem } from './problem.tsx';

/** The records store this many runs of a target. */
const LATEST = 20;

/**
 * A target: its results in its last runs, newest first, and how its site is, by the service. The service is not
 * asked again while the page is open, so that it costs one request, not one a minute.
 */
export async function showTarget(c: Exchange, context: DashboardContext): Promise<Response> {
  const account = c.req.param('account') ?? '';
  const id = c.req.param('id') ?? '';
  // A target that needed no action when the run was planned is not on the list of its runs.
  const targetRuns = await context.reader.runsOfTarget(account, id, c.req.query('run'));
  const [latest] = targetRuns;
  const findings = await findingsOn(context, account, id);
  if (!latest) {
    return sendProblem(c, context, 404, 'No stored run has worked on this target.');
  }
  const site = targetRuns.map(({ target }) => target.site).find((one) => one !== undefined);
  // An update leaves the state as it is.
  const isAsked = site !== undefined && !c.get('isUpdate');
  const state = isAsked ? await siteState(context.control, account, site) : undefined;
  return showPage(
    c,
    context,
    { title: siteName(latest.target.label, id), here: '/sites', live: '*' },
    <section>
      <p class="dim">
        <a href="/sites">Sites</a> / target
      </p>
      <h1>{latest.target.label.trim() || id}</h1>
      <p class="dim">
        <span class="id">{id}</span> of the account {account}
      </p>
      <div class="beside">
        <div class="stack" id="target-runs" data-live>
          {findings.length > 0 && <OpenFindings findings={findings} />}
          <div class="card">
            <h2>Results, newest first</h2>
            <Timeline entries={targetRuns.map(entryOf)} />
            <p class="dim">
              At most its last {LATEST} runs. Runs in which it needed no action are not listed.
            </p>
          </div>
        </div>
        <aside class="card" aria-label="State of the site">
          <h2>The site now</h2>
          <State state={state} />
        </aside>
      </div>
    </section>,
  );
}

/** The open findings on a target, of all policies; those of its items too, where it is a site. */
async function findingsOn(
  { reader }: DashboardContext,
  account: string,
  id: string,
): Promise<ListedFinding[]> {
  const site = parentIdIn(id);
  if (site === undefined) return reader.findings.ofSite(account, id);
  return (await reader.findings.ofSite(account, site)).filter(({ target }) => target === id);
}

const OpenFindings = ({ findings }: { findings: readonly ListedFinding[] }) => (
  <div class="card">
    <h2>Open findings</h2>
    <ul class="plain">
      {findings.map(({ policy, severity, about, message, since }) => (
        <li>
          <Badge word={severity} /> <span class="dim">{about}:</span> {message}{' '}
          <span class="dim">
            <a href={pathWith('/findings', { policy, severity })}>{policy}</a>, since{' '}
            <Time at={since} show="relative" />
          </span>
        </li>
      ))}
    </ul>
  </div>
);

const icons: Readonly<Record<string, IconName>> = {
  succeeded: 'circle-check',
  failed: 'circle-x',
  skipped: 'circle-minus',
  cancelled: 'ban',
};

/** One run of the target. Only what is recorded is shown. */
function entryOf({ run, target }: TargetRun): Entry {
  const { outcome, state, reason, detail, startedAt, finishedAt } = target;
  return {
    key: run.id,
    at: finishedAt ?? startedAt ?? run.createdAt,
    icon: icons[outcome ?? ''] ?? 'clock',
    tone: outcome ?? state,
    title: (
      <>
        <a href={policyPath(run.policy)}>{run.policy}</a> <TargetBadge target={target} />{' '}
        {reason && <Why reason={reason} />} {detail && <Sentence text={detail} />}
      </>
    ),
    details: <Record of={{ run, target }} />,
  };
}

const Record = ({ of: { run, target } }: { of: TargetRun }) => {
  const { startedAt, finishedAt, attempts, waits, intent, watch, taskId, batch } = target;
  const stepNames = stepNamesOf(run);
  return (
    <>
      <dl>
        <Fact name="Run">
          <a href={runPath(run.id)} class="id">
            {run.id}
          </a>
        </Fact>
        <Fact name="Planned">
          <Time at={run.createdAt} show="exact" />
        </Fact>
        {batch !== undefined && <Fact name="Batch">{batch}</Fact>}
        {startedAt !== undefined && (
          <Fact name="Started">
            <Time at={startedAt} show="exact" />, {span(startedAt - run.createdAt)} after the run
          </Fact>
        )}
        {attempts > 0 && <Fact name="Failed attempts">{attempts}</Fact>}
        {waits > 0 && <Fact name="Waited without an effect">{waits} times</Fact>}
        {intent && (
          <Fact name="Request without a recorded result">
            <code>{intent.operation}</code>, <Time at={intent.at} show="exact" />
            {intent.note && `: ${intent.note}`}
          </Fact>
        )}
        {watch && (
          <Fact name="Followed">
            {watch.label ?? watch.kind} since <Time at={watch.since} show="exact" />
          </Fact>
        )}
        {taskId && (
          <Fact name="Task in the service">
            <span class="id">{taskId}</span>
          </Fact>
        )}
        {target.changed && <Fact name="Changed">A request of the run had an effect.</Fact>}
        {finishedAt !== undefined && (
          <Fact name="Ended">
            <Time at={finishedAt} show="exact" />
            {startedAt !== undefined && `, after ${span(finishedAt - startedAt)}`}
          </Fact>
        )}
      </dl>
      <Steps names={stepNames} target={target} />
      <Requests target={target} />
      <Findings target={target} />
    </>
  );
};

const Fact = ({ name, children }: { name: string; children: Child }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const State = ({ state }: { state: SiteState | undefined }) => {
  if (state === undefined) return <p class="dim">Not known: no run has recorded which site it belongs to.</p>;
  return (
    <>
      {'unknown' in state ? (
        <p class="note is-unknown">Not known: {state.unknown}</p>
      ) : (
        <SiteNow site={state.site} />
      )}
      <p class="dim small">
        Asked <Time at={state.at} show="relative" />, for one request of the account. The answer is kept for a
        minute.
      </p>
    </>
  );
};

const SiteNow = ({ site }: { site: SiteFacts }) => {
  const { url, client, tags, server, sync, locked, connection, core } = site;
  const versions = core?.core;
  const name =
    client && (client.company_name || `${client.first_name ?? ''} ${client.last_name ?? ''}`.trim());
  return (
    <dl>
      {/^https?:\/\//.test(url) && (
        <Fact name="Address">
          <a href={url} rel="noreferrer noopener" target="_blank">
            {url}
          </a>
        </Fact>
      )}
      {connection !== undefined && (
        <Fact name="Connection">
          <Badge word={connection} />
        </Fact>
      )}
      <Fact name="Last sync">
        <Time at={timeOf(sync?.last_sync_at)} />
        {sync?.in_progress && ' One is in progress.'}
        {sync?.paused && ' Syncs are paused.'}
      </Fact>
      {sync?.last_sync_error && <Fact name="Error of the last sync">{sync.last_sync_error}</Fact>}
      {versions?.current_version && (
        <Fact name="Version">
          {versions.current_version}
          {versions.update_available && versions.latest_version && ` (latest: ${versions.latest_version})`}
        </Fact>
      )}
      {server?.php_version && <Fact name="PHP">{server.php_version}</Fact>}
      {locked && <Fact name="Locked">yes</Fact>}
      <Fact name="Client">{name || <span class="dim">none</span>}</Fact>
      <Fact name="Tags">
        {tags === undefined ? (
          <span class="dim">not known</span>
        ) : (
          tags.map(({ name: tag, id }) => tag ?? id).join(', ') || <span class="dim">none</span>
        )}
      </Fact>
    </dl>
  );
};

function timeOf(value: unknown): number | undefined {
  if (value instanceof Date) return value.getTime();
  const at = typeof value === 'number' ? value : Date.parse(String(value));
  return Number.isNaN(at) ? undefined : at;
}
