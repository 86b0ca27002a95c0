import { isoTime } from '../../clock.ts';
import { NO_TARGET } from '../../control/commands/list-runs.ts';
import type { ListedFinding } from '../../control/findings.ts';
import { type SiteView, viewSite } from '../../control/site-view.ts';
import { statesOf } from '../../control/sites.ts';
import { parentIdIn, siteIdIn, targetOfSite } from '../../job/candidates.ts';
import type { SiteInRing } from '../../job/look.ts';
import type { SiteFacts } from '../../records/site-store.ts';
import type { Target } from '../../run/run.ts';
import { isFailure } from '../../run/sent-request.ts';
import { stepNamesOf } from '../../run/steps.ts';
import { redact, scrubOnce } from '../../secrets.ts';
import { countOf } from '../../text.ts';
import { principalOf } from '../auth/caller.ts';
import { Badge } from '../components/badge.tsx';
import { Why } from '../components/contexts.tsx';
import { pathWith } from '../components/filter-bar.tsx';
import type { IconName } from '../components/icon.tsx';
import { showPage } from '../components/layout.tsx';
import { policyPath, runPath, siteName, targetPath } from '../components/paths.ts';
import { Fact } from '../components/progress.tsx';
import { Findings, Steps, TargetBadge } from '../components/target-line.tsx';
import { Sentence, span, Time } from '../components/time.tsx';
import { type Entry, Timeline } from '../components/timeline.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import type { TargetRun } from '../queries/search-reader.ts';
import { sendProblem } from './problem.tsx';

/** The records store this many runs of a target. */
const LATEST = 20;
/** Of a site and all its items, so many results are shown. */
const MAX_SHOWN = 60;

/**
 * A target: its results in its last runs, newest first, and how its site is, by the service. Everything about a site
 * is on its own page, also what a check reports of it as a target of its own.
 */
export async function showTarget(c: Exchange, context: DashboardContext): Promise<Response> {
  const account = c.req.param('account') ?? '';
  const id = c.req.param('id') ?? '';
  const also = c.req.query('run');
  if (targetOfSite(siteIdIn(id)) === id)
    return c.redirect(targetPath(account, siteIdIn(id), also ? `?run=${encodeURIComponent(also)}` : ''));
  const found = await viewSite(context.control, { account, id, also }, principalOf(c));
  if (!found) return sendProblem(c, context, 404, NO_TARGET);
  const view = redact(found, scrubOnce) as SiteView;
  return showPage(
    c,
    context,
    { title: siteName(view.label, id), here: '/sites', live: '*' },
    <section>
      <p class="dim">
        <a href="/sites">Sites</a> / {view.site?.id === id ? 'site' : 'target'}
      </p>
      <h1>{siteName(view.label, id)}</h1>
      <p class="dim">
        {view.site?.id === id && view.site.title && `${view.site.title}, `}
        <span class="id">{id}</span> of the account {account}
      </p>
      <div class="beside">
        <aside class="card" aria-label="State of the site">
          <h2>The site</h2>
          <State view={view} />
        </aside>
        <div class="stack" id="target-runs" data-live>
          {view.findings.length > 0 && <OpenFindings findings={view.findings} />}
          {view.freezes.length + view.policies.length > 0 && <Policies view={view} />}
          <div class="card">
            <h2>Results, newest first</h2>
            {view.runs.length === 0 ? (
              <p class="dim">No stored run has worked on it.</p>
            ) : (
              <Timeline entries={view.runs.slice(0, MAX_SHOWN).map((one) => entryOf(one, id))} />
            )}
            <p class="dim">
              At most its last {LATEST} runs. Runs in which it needed no action are not listed.
            </p>
          </div>
        </div>
      </div>
    </section>,
  );
}

/** The policies that have worked on it or would, each with its last plan and its next run. */
const Policies = ({ view: { freezes, policies } }: { view: SiteView }) => (
  <div class="card">
    <h2>Policies</h2>
    {freezes.map((sentence) => (
      <p class="note is-warn">
        Frozen: <Sentence text={sentence} />
      </p>
    ))}
    <ul class="plain">
      {policies.map(({ policy, planned, next, ring }) => (
        <li>
          <a href={policyPath(policy)}>{policy}</a>
          {next && (
            <>
              {' '}
              runs next <Time at={Date.parse(next.at)} />
              {next.skipped && ` and will be skipped: ${next.skipped}`}
            </>
          )}
          {planned && (
            <span class="dim">
              {' '}
              In its last plan (<Time at={planned.at} show="relative" />
              ): {planned.what}
            </span>
          )}
          {ring && <InRing policy={policy} of={ring} />}
        </li>
      ))}
    </ul>
  </div>
);

/** The ring of a site, and what it took. */
const InRing = ({ policy, of: { ring, took } }: { policy: string; of: SiteInRing }) => (
  <div>
    Ring <a href={policyPath(policy, '/rings')}>{ring}</a>
    {took.length === 0 && <span class="dim">, no version taken yet</span>}
    <ul class="plain">
      {took.map(({ item, version, at, broke }) => (
        <li>
          {item} {version}{' '}
          <span class="dim">
            <Time at={Date.parse(at)} />
          </span>
          {broke !== null && <span class="failed"> {broke}</span>}
        </li>
      ))}
    </ul>
  </div>
);

const OpenFindings = ({ findings }: { findings: readonly ListedFinding[] }) => (
  <div class="card">
    <h2>Open findings</h2>
    <ul class="plain">
      {findings.map(({ policy, severity, about, message, since, seenAt }) => (
        <li>
          <Badge word={severity} /> <span class="dim">{about}:</span> {message}{' '}
          <span class="dim">
            <a href={pathWith('/findings', { policy, severity })}>{policy}</a>, since{' '}
            <Time at={since} show="relative" />, last seen <Time at={seenAt} show="relative" />
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
function entryOf({ run, target }: TargetRun, of: string): Entry {
  const { outcome, state, reason, detail, startedAt, finishedAt } = target;
  return {
    key: `${run.id} ${target.id}`,
    at: finishedAt ?? startedAt ?? run.createdAt,
    icon: icons[outcome ?? ''] ?? 'clock',
    tone: outcome ?? state,
    title: (
      <>
        <a href={policyPath(run.policy)}>{run.policy}</a>{' '}
        {parentIdIn(target.id) !== undefined && target.id !== of && (
          <a class="plain" href={targetPath(run.account, target.id)}>
            {target.label}
          </a>
        )}{' '}
        <TargetBadge target={target} /> {reason && <Why reason={reason} />}{' '}
        {detail && <Sentence text={detail} />}
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

const State = ({ view: { site, readAt, notNewer } }: { view: SiteView }) => (
  <>
    {site ? <Facts site={site} /> : <p class="dim">{notKnown(readAt)}</p>}
    {notNewer !== undefined && (
      <p class="note is-unknown">
        Not read again: <Sentence text={notNewer} />
      </p>
    )}
    {readAt !== undefined && (
      <p class="dim small">
        As of <Time at={readAt} show="relative" />. The sites of an account are read together, at most every
        five minutes.
      </p>
    )}
  </>
);

const notKnown = (readAt: number | undefined): string =>
  readAt === undefined
    ? 'Not known: the sites of the account were never read.'
    : 'The account did not have it when its sites were read.';

const Facts = ({ site }: { site: SiteFacts }) => {
  const { url, client, tags, last_sync_at: syncedAt, latest_snapshot: snapshot } = site;
  return (
    <dl>
      {/^https?:\/\//.test(url) && (
        <Fact name="Address">
          <a href={url} rel="noreferrer noopener" target="_blank">
            {url}
          </a>
        </Fact>
      )}
      <Fact name="State">
        {statesOf(site).map((word) => (
          <>
            <Badge word={word} />{' '}
          </>
        ))}
      </Fact>
      <Fact name="Last sync">{syncedAt === null ? 'never' : <Time at={timeOf(syncedAt)} />}</Fact>
      {site.backups_enabled === false && <Fact name="Backups">off</Fact>}
      {snapshot && (
        <Fact name="Latest snapshot">
          <Time at={timeOf(snapshot.created_at)} /> {snapshot.status}
        </Fact>
      )}
      {site.core_update && <Fact name="Core">An update is available.</Fact>}
      {site.php_version && <Fact name="PHP">{site.php_version}</Fact>}
      <Fact name="Client">{client === undefined ? 'not shown' : (client?.name ?? 'none')}</Fact>
      <Fact name="Tags">
        {tags === undefined ? 'not shown' : tags.map(({ name }) => name).join(', ') || 'none'}
      </Fact>
    </dl>
  );
};

const timeOf = (text: string | undefined): number | undefined => Date.parse(text ?? '') || undefined;

/** The requests that were sent for a target: operation, status, duration, id, and what an error answer says. */
const Requests = ({ target: { requests = [], moreRequests, startedAt } }: { target: Target }) =>
  requests.length === 0 ? null : (
    <div class="requests">
      <h3>Requests</h3>
      <ol class="plain">
        {requests.map((request) => (
          <li class={isFailure(request) ? 'is-failed' : 'is-succeeded'}>
            <p>
              <code>{request.operation}</code>
              <span class="status">
                {request.status === undefined ? 'no answer' : `HTTP ${request.status}`}
              </span>
              <span class="dim ms">{request.ms}&nbsp;ms</span>
              <span class="dim" title={isoTime(request.at)}>
                {startedAt !== undefined && `after ${span(request.at - startedAt)}`}
              </span>
              {request.id !== undefined && <span class="dim id">{request.id}</span>}
            </p>
            {(request.code !== undefined || request.message !== undefined) && (
              <p class="error">
                {request.code !== undefined && <code>{request.code}</code>} {request.message}
              </p>
            )}
          </li>
        ))}
      </ol>
      {moreRequests !== undefined && (
        <p class="dim">{countOf(moreRequests, 'more request')} between the first three and the last ones.</p>
      )}
    </div>
  );
