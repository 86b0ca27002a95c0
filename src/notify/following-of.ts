/** What follows from a notice: which messages to whom, and what the receivers then know. */
import { createHash } from 'node:crypto';
import { defined } from '../defined.ts';
import { Policy } from '../policy/policy.ts';
import type { NewDelivery } from '../records/delivery-store.ts';
import { keys } from '../records/keys.ts';
import type { Following, Notice, RunNotice, SystemNotice } from '../records/notice-store.ts';
import { parseRecord } from '../records/parse-record.ts';
import type { Run } from '../run/run.ts';
import { messageAboutDeadline, messageAboutFindings, messageAboutPause } from './message.ts';
import { type View, viewsOf } from './routes.ts';
import { aboutEnd, messageAboutApproval, messageAboutGate, oncePerInterval } from './run-end.ts';
import { systemResultOf } from './system-messages.ts';
import { type FollowingDeps, heldBy, type Wanted } from './wanted.ts';

/** What is to be sent, in groups of which no one gets more than one message, and what changes with it. */
export interface Result {
  groups: readonly (readonly Wanted[])[];
  changes: Following['changes'];
}

/**
 * What follows from a notice at `now`. The ids of the messages are derived from the notice: they are the same whenever
 * it is called. Nothing follows for a run that is no longer stored.
 */
export async function followingOf(deps: FollowingDeps, notice: Notice, now: number): Promise<Following> {
  const { records, publicUrl } = deps;
  if (notice.type === 'system') return followingSystem(deps, notice, now);
  const run = await records.runs.get(notice.run);
  if (!run) return { made: [], changes: [] };
  const asThen = parseRecord(Policy, run.policyJson, keys.run(run.id));
  const { policy, account } = run;
  const link = publicUrl === undefined ? {} : { link: `${publicUrl}/runs/${encodeURIComponent(run.id)}` };
  const views = await viewsOf(deps, notice, asNoticed(run, notice), asThen);
  const results = await Promise.all(views.map(async (view) => ({ view, ...(await resultOf(view, notice)) })));
  const made = results.flatMap(({ view, groups }) =>
    groups.flatMap((wanted) => {
      const notified = new Set<string>();
      return wanted.flatMap(({ on, event, message, about, to: only }) =>
        view.notify.flatMap(({ on: asked, to }) => {
          if (!asked.includes(on) || notified.has(to) || (only ?? to) !== to) return [];
          notified.add(to);
          const id = idOf(notice, event, to);
          const facts = { policy, account, run: run.id, ...link, ...defined({ about }) };
          const subjects = subjectsOf(facts);
          const text = view.note === undefined ? message.text : `${message.text}\n${view.note}`;
          const delivery = {
            id,
            to,
            event,
            at: notice.at,
            ...facts,
            subjects,
            message: { ...message, text },
          };
          return [{ message: delivery, held: heldBy(deps.receivers[to], delivery, now) }];
        }),
      );
    }),
  );
  return { made, changes: results.flatMap(({ changes }) => changes) };
}

/** The run as it was when the notice was written. */
const asNoticed = (run: Run, notice: RunNotice): Run =>
  notice.type === 'run' ? { ...run, status: notice.status, ...defined({ detail: notice.detail }) } : run;

async function resultOf({ deps, run, notify, owns }: View, notice: RunNotice): Promise<Result> {
  const { records } = deps;
  const only = (wanted: Wanted): Result => ({ groups: [[wanted]], changes: [] });
  switch (notice.type) {
    case 'run': {
      const { wanted, changes } = await aboutEnd(deps, run, { at: notice.at, notify, owns });
      return { groups: [wanted, run.status === 'blocked' ? [] : aboutFindings(run)], changes };
    }
    case 'deadline': {
      const { at } = notice;
      const { wanted, changes } = await oncePerInterval(deps, 'deadline', run, { at, notify });
      const message = messageAboutDeadline(run);
      const about = `deadline ${run.policy}`;
      return {
        groups: [wanted.map((to) => ({ on: 'deadline', event: 'run.deadline', message, about, to }))],
        changes,
      };
    }
    case 'approval': {
      const { is, number, detail } = notice;
      const on = `approval-${is}`;
      const as = {
        ...run,
        status: 'awaiting-approval' as const,
        approvals: (run.approvals ?? []).slice(0, number),
        ...defined({ detail }),
      };
      return only({ on, event: `run.${on}`, message: messageAboutApproval(as, is) });
    }
    case 'gate-closed': {
      const { batch, detail } = notice;
      const seen = (await records.batches.gates(run.id)).get(batch) ?? [];
      const bad = seen.filter(({ is }) => is !== 'healthy');
      const message = messageAboutGate({ ...run, status: 'running', detail }, bad);
      return only({ on: 'gate-closed', event: 'run.gate-closed', message });
    }
    case 'paused':
      return only({ on: 'paused', event: 'policy.paused', message: messageAboutPause(run, notice) });
  }
}

/** One message about both, for receivers that asked for at least one of them. */
function aboutFindings(run: Run): Wanted[] {
  const { new: added = 0, resolved = 0 } = run.findings ?? {};
  if (added + resolved === 0) return [];
  const message = messageAboutFindings(run);
  return [
    ...(added > 0 ? [{ on: 'findings', event: 'policy.findings', message }] : []),
    ...(resolved > 0 ? [{ on: 'recovered', event: 'policy.recovered', message }] : []),
  ];
}

async function followingSystem(deps: FollowingDeps, notice: SystemNotice, now: number): Promise<Following> {
  const { receivers, publicUrl } = deps;
  const { at, account, policy } = notice;
  const { to, event, message, about, changes } = await systemResultOf(deps, notice);
  const ofNone = notice.event.startsWith('budget-') ? '/budget' : '/';
  const page = policy === undefined ? ofNone : `/policies/${encodeURIComponent(policy)}`;
  const facts = {
    event,
    at,
    ...defined({ account, policy, about }),
    ...(publicUrl === undefined ? {} : { link: `${publicUrl}${page}` }),
  };
  const subjects = subjectsOf(facts);
  const made = to.map((name) => {
    const delivery: NewDelivery = {
      id: idOf(notice, event, name),
      to: name,
      ...facts,
      subjects,
      message: { ...message },
    };
    return { message: delivery, held: heldBy(receivers[name], delivery, now) };
  });
  return { made, changes };
}

/** What arrives in its order at each receiver: what is about an account, about a policy, and about neither. */
const subjectsOf = ({ about, policy }: Pick<NewDelivery, 'about' | 'policy'>): string[] => {
  const subjects = [
    ...(about !== undefined && /^(account|address|budget) /.test(about) ? [about] : []),
    ...(policy === undefined ? [] : [`policy ${policy}`]),
  ];
  return subjects.length > 0 ? subjects : ['system'];
};

/** Derived from the notice, so that they are the same whenever it is read. */
function idOf(notice: Notice, event: string, to: string): string {
  const subject = notice.type === 'system' ? notice.detail : notice.run;
  return `msg_${createHash('sha256')
    .update(JSON.stringify([notice.type, subject, notice.at, event, to]))
    .digest('base64url')
    .slice(0, 27)}`;
}
