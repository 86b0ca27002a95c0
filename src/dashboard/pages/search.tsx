/** The search: a page with all kinds of results, and suggestions for the field while a person types. */
import type { Child } from 'hono/jsx';
import { sendJson } from '../api/json.ts';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { showPage } from '../components/layout.tsx';
import { policyPath, runPath, targetPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { type FoundReason, queryIn, type Results, search } from '../queries/search.ts';

const ON_PAGE = 50;
const SUGGESTED = 5;

/** One result: a link with what is shown beside it. */
interface Found {
  title: string;
  /** Missing: nothing of it happened lately. */
  href?: string;
  /** A few words. */
  about: string;
  detail?: Child;
}

interface Kind {
  name: string;
  found: Found[];
}

/** The results for `?q=`, by kind. */
export async function showSearch(c: Exchange, context: DashboardContext): Promise<Response> {
  const query = queryIn(c.req.query('q'));
  const kinds = kindsOf(await search(context, query, ON_PAGE));
  return showPage(
    c,
    context,
    { title: query === '' ? 'Search' : `${query} · Search`, search: query },
    <>
      <h1>Search</h1>
      {query === '' ? <Help /> : kinds.length === 0 && <Nothing query={query} />}
      {kinds.map((kind, index) => (
        <KindOfResults kind={kind} isFirst={index === 0} />
      ))}
    </>,
  );
}

/** The first results for `?q=`, of all kinds: `{ results: [{ kind, title, about, href }] }`, and the page with all. */
export async function sendSuggestions(c: Exchange, context: DashboardContext): Promise<Response> {
  const query = queryIn(c.req.query('q'));
  const kinds = kindsOf(await search(context, query, SUGGESTED));
  return sendJson(c, {
    results: kinds.flatMap(({ name, found }) =>
      found.flatMap(({ title, about, href }) =>
        href === undefined ? [] : { kind: name, title, about, href },
      ),
    ),
    all: `/search?q=${encodeURIComponent(query)}`,
  });
}

const Help = () => (
  <Empty icon="search" title="What is found">
    Policies and reasons by a part of their name or description; runs by a part of their id; sites and other
    targets by parts of their id or label, once a run has worked on them; tasks and snapshots of the last ten
    days by their whole id.
  </Empty>
);

const Nothing = ({ query }: { query: string }) => (
  <Empty icon="search" title={`Nothing has “${query}” in it.`}>
    Sites are found once a run has worked on them, and tasks for ten days by their whole id.
  </Empty>
);

const KindOfResults = ({ kind: { name, found }, isFirst }: { kind: Kind; isFirst: boolean }) => (
  <section>
    <h2>{name}</h2>
    <ul class="found">
      {found.map(({ title, href, about, detail }, index) => (
        <li data-row>
          {href === undefined ? (
            <span title={title}>{title}</span>
          ) : (
            <a href={href} title={title} autofocus={isFirst && index === 0}>
              {title}
            </a>
          )}
          <span class="dim" title={about}>
            {detail ?? about}
          </span>
        </li>
      ))}
    </ul>
    {found.length === ON_PAGE && <p class="dim">The first {ON_PAGE}. More words narrow it down.</p>}
  </section>
);

function kindsOf({ policies, runs, targets, made, reasons }: Results): Kind[] {
  const kinds: Kind[] = [
    {
      name: 'Policies',
      found: policies.map(({ name, description = '' }) => ({
        title: name,
        href: policyPath(name),
        about: description,
      })),
    },
    {
      name: 'Tasks',
      found: made.map(({ run, target }) => ({
        title: target.label,
        href: `${targetPath(run.account, target.id)}?run=${encodeURIComponent(run.id)}`,
        about: `${target.outcome ?? target.state} in ${run.id}`,
      })),
    },
    {
      name: 'Sites and other targets',
      found: targets.map(({ account, target, label }) => ({
        title: label,
        href: targetPath(account, target),
        about: `${target} in ${account}`,
      })),
    },
    {
      name: 'Runs',
      found: runs.map(({ id, status, createdAt }) => ({
        title: id,
        href: runPath(id),
        about: status,
        detail: (
          <>
            <Badge word={status} /> <Time at={createdAt} />
          </>
        ),
      })),
    },
    {
      name: 'Reasons',
      found: reasons.map(ofReason),
    },
  ];
  return kinds.filter(({ found }) => found.length > 0);
}

/** A reason leads to the latest run with it, of the policy that has it most. */
function ofReason({ reason, info, lastDay }: FoundReason): Found {
  const [most] = lastDay?.policies ?? [];
  if (!lastDay || !most) return { title: reason, about: info.text };
  const targets = `${number(lastDay.count)} ${lastDay.count === 1 ? 'target' : 'targets'} in the last 24 hours`;
  return {
    title: reason,
    href: runPath(most.latest, `?outcome=${lastDay.outcome}&search=${encodeURIComponent(reason)}`),
    about: `${targets}. ${info.text}`,
  };
}
