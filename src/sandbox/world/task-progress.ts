/**
 * The progress of a task at a time: computed from its plan, so that nothing has to be updated while it runs.
 */

import type { SiteProgress, Task, TaskStatus, TroubledEnd } from '../model/tasks.ts';

/** The percentage of the task that is done. */
export const percentOf = (task: Task, now: number): number => percent(shareDone(task, now));

/**
 * Sites are worked on one after the other, and so are their steps. A task that fails does so at its last
 * site.
 */
export function sitesProgress(task: Task, now: number): SiteProgress[] {
  const count = task.input.length;
  const done = shareDone(task, now);
  return task.input.map(({ id }, at) => {
    const trouble = task.troubled[id];
    const whole = within(done * count - at);
    const share = trouble ? Math.min(whole, FAILED_SHARE) : whole;
    const end = trouble && whole === 1 ? trouble : null;
    const steps = task.steps.map((type, step) => {
      const stepShare = within(share * task.steps.length - step);
      return { type, status: statusAt(task, stepShare, end), percent: percent(stepShare) };
    });
    return { id, status: statusAt(task, share, end), percent: percent(share), steps };
  });
}

/** A finished part is completed. Otherwise it has the status of its site or of the whole task. */
function statusAt(task: Task, share: number, end: TroubledEnd | null): TaskStatus {
  if (share === 1) return 'completed';
  if (end) return end;
  if (task.endedAt !== null) return task.status;
  return share > 0 ? 'running' : 'initializing';
}

function shareDone(task: Task, now: number): number {
  if (task.status === 'completed') return 1;
  const share = within(((task.endedAt ?? now) - task.runsAt) / (task.endsAt - task.runsAt));
  const goesOn = Object.keys(task.troubled).length > 0;
  // A failed task stops in its last step, unless only some sites failed.
  if (goesOn) return share;
  return task.endedAt === null || task.status === 'cancelled' ? share : Math.min(share, FAILED_SHARE);
}

/**
 * So close to 1 that only the last step of the last site is missing, for any plausible number of sites and
 * steps.
 */
const FAILED_SHARE = 0.9999;

const within = (share: number) => Math.min(1, Math.max(0, share));
const percent = (share: number) => Math.floor(share * 100);
