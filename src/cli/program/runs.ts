import { Option } from '@commander-js/extra-typings';
import { lineFormats } from '../output/show.ts';
import {
  type ActionOf,
  collectList,
  ignoreFreeze,
  json,
  neverAsks,
  output,
  type Program,
  reason,
  whichRun,
  wholeNumber,
} from './root.ts';

/** Commands for runs. */
export function addRunCommands(program: Program, actionOf: ActionOf): void {
  program
    .command('status')
    .description('show what runs and until when, what waits for a person, what failed and what is next')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/status.ts')).status));
  const runs = program
    .command('runs')
    .description('list runs, newest first')
    .option('--policy <name>', 'only runs of this policy; repeatable, or with commas', collectList)
    .option('--status <status>', 'only runs with this status; repeatable, or with commas', collectList)
    .option('--since <when>', 'only runs since this time: 3d, 12h, 2026-11-01, or 2026-11-01T08:00Z (UTC)')
    .option('--limit <n>', 'maximum number of runs', wholeNumber(1), 20)
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/runs.ts')).listRuns));
  runs
    .command('show')
    .argument('<run>', whichRun)
    .description('show a run and the outcome of each target')
    .option('--failed', 'only the targets that failed, each with its reason and detail')
    .option('--target <id>', 'only this target, with the requests that were sent for it')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/runs.ts')).showRun));
  runs
    .command('compare')
    .argument('<run>', whichRun)
    .description('compare a run with the one before it: which targets newly failed, recovered or took longer')
    .option('--with <run>', 'another run of the policy, or a duration: 7d is the run a week before')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/runs-compare.ts')).compareRunsOf));
  runs
    .command('watch')
    .argument('[run]', `${whichRun} (default: last)`)
    .description('follow a run that another process works on to its end; starts and changes nothing')
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/runs-watch.ts')).watchRunOf));
  runs
    .command('cancel')
    .argument('<run>', whichRun)
    .description('cancel a run; work in progress is followed to its end')
    .option('--leave-tasks', 'follow running tasks of the service to their end instead of cancelling them')
    .option('--force', 'force-end: do not wait for work in progress')
    .addOption(reason())
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/runs-act.ts')).cancelRun));
  runs
    .command('retry')
    .argument('<run>', whichRun)
    .description('start a new run with targets that failed, and follow it to its end')
    .option(
      '--with-reason <reason>',
      'those with this reason; repeatable, or with commas; "all": all that failed (default: those that a retry may help)',
      collectList,
    )
    .option('--target <id...>', 'only these targets of the run')
    .option('--detach', 'start the run and exit; the daemon does the work')
    .addOption(ignoreFreeze())
    .addOption(reason())
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/runs-act.ts')).retryRun));
  runs
    .command('resume')
    .argument('<run>', whichRun)
    .description(
      'continue a run that was interrupted, is held, pauses, or waits at a closed gate or for its account',
    )
    .option(
      '--release',
      'release a held run: targets may be changed a second time, so check the account first',
    )
    .option('--ignore-gate', 'begin the next batch of a rollout at once, whatever its gate says')
    .addOption(reason())
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/runs-act.ts')).resumeRun));
  runs
    .command('export')
    .argument('<run>', whichRun)
    .description('print the outcome of each target, one per line: "runs show" as CSV')
    .addOption(new Option('-o, --output <format>', 'format of the lines').choices(lineFormats).default('csv'))
    .action(actionOf(async () => (await import('../commands/runs.ts')).exportRun));
}

/** Commands for runs that wait for an approval. */
export function addApprovalCommands(program: Program, actionOf: ActionOf): void {
  const list = () => actionOf(async () => (await import('../commands/approvals.ts')).listApprovals);
  const approvals = program
    .command('approvals')
    .description('list the runs that wait for an approval, approve and reject them')
    .addOption(output())
    .addOption(json())
    .action(list());
  approvals
    .command('list')
    .description('list the runs that wait for an approval')
    .addOption(output())
    .addOption(json())
    .action(list());
  approvals
    .command('approve')
    .argument('<run>', whichRun)
    .description('approve a run that waits for it, so that it starts')
    .option('--batch <n>', 'only up to this batch', wholeNumber(1))
    .option('--target <id...>', 'only these targets; the others are not done')
    .option('--plan <hash>', 'refuse if the run waits with another plan than this one')
    .addOption(neverAsks())
    .addOption(reason())
    .action(actionOf(async () => (await import('../commands/approvals.ts')).approveRun));
  approvals
    .command('reject')
    .argument('<run>', whichRun)
    .description('reject a run that waits for an approval')
    .option('--batch <n>', 'only this batch; the rest waits on', wholeNumber(1))
    .option('--target <id...>', 'only these targets; the rest waits on')
    .option('--plan <hash>', 'refuse if the run waits with another plan than this one')
    .addOption(neverAsks())
    .addOption(reason())
    .action(actionOf(async () => (await import('../commands/approvals.ts')).rejectRun));
}

/** Commands for announced changes. */
export function addAnnouncementCommands(program: Program, actionOf: ActionOf): void {
  const announcements = program
    .command('announcements')
    .description('list the changes that are announced (grace) and not made yet')
    .option('--policy <name>', 'only of this policy; repeatable, or with commas', collectList)
    .option('--limit <n>', 'maximum number of announcements', wholeNumber(1, 1_000), 100)
    .addOption(output())
    .addOption(json())
    .action(actionOf(async () => (await import('../commands/announcements.ts')).listAnnouncements));
  announcements
    .command('cancel')
    .argument('<announcement...>', 'ids of announcements, as "caretaker announcements" shows them')
    .description('cancel announced changes, and remove their notes')
    .addOption(reason())
    .action(actionOf(async () => (await import('../commands/announcements.ts')).cancelAnnouncements));
}
