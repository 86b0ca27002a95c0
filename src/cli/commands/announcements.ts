/** Announced changes: lists them, and cancels them. */
import { isoMinute } from '../../clock.ts';
import type { AnnouncementReport } from '../../control/announcements.ts';
import {
  cancelAnnouncement,
  listAnnouncements as list,
  sentencesOf,
} from '../../control/commands/announcements.ts';
import { withClient, withReader } from '../client.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import { exit } from '../exit.ts';
import { type List, showList } from '../output/list.ts';
import type { Terminal } from '../output/terminal.ts';

interface AnnouncementOptions extends GlobalOptions {
  policy?: string[];
  limit: number;
}

/** Lists the announced changes, the next one first. */
export const listAnnouncements = (terminal: Terminal, options: AnnouncementOptions): Promise<number> =>
  withReader('records', terminal, options, async ({ read }) => {
    const { policy, limit } = options;
    const { announcements, total } = await read(list, { policy, limit }, { announcements: [], total: 0 });
    const rest = total - announcements.length;
    return showList(terminal, options, announced, {
      rows: announcements,
      none: 'No change is announced.',
      below: () => terminal.message('Cancel one: caretaker announcements cancel <id>.'),
      more: rest > 0 && `There are ${rest} more.`,
    });
  });

const announced: List<AnnouncementReport> = {
  table: {
    from: ({ change_from: from }) => from && isoMinute(from),
    policy: ({ policy }) => policy,
    change: ({ operation }) => operation,
    target: ({ label }) => label,
    '': ({ cancelled_by: by }) => by && `cancelled by ${by}`,
    id: ({ id }) => id,
  },
  shrink: ['change: 16', 'target: 12'],
  csv: ['id policy account target label operation site change_from cancelled_by'],
};

/** Cancels announced changes. Two requests each, to remove its note. */
export const cancelAnnouncements = (
  terminal: Terminal,
  ids: string[],
  options: GlobalOptions & ReasonOption,
): Promise<number> =>
  withClient('caretaker', terminal, options, async ({ act }) => {
    for (const announcement of ids) {
      const answer = await act(cancelAnnouncement, { announcement, reason: options.reason });
      terminal.message(sentencesOf(answer).join(' '));
    }
    return exit.ok;
  });
