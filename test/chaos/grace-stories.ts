/**
 * A destructive call with `grace`: announced once, made once and not before the announced time, never after somebody
 * removed its announcement. What the policy no longer selects is withdrawn, and announced again later.
 *
 * Five runs: all copies are announced; at once a second run finds them announced; then some announcements are removed or
 * edited by people, the grace period ends, and the policy selects fewer copies; then it selects all again; then the grace
 * period of those is over, too.
 */
import { apiCall } from '../../jobs/api-call/job.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { countBy, type Evidence, nextSites, type Story, wrongOf } from './story.ts';

const NAME = 'chaos-grace';
const GRACE_MS = 400_000;
const COPIES = 20;
/** Longer than the lists of the service are late. */
const LATE_MS = 10_000;
const EDITED = 'Please ask me first. Ines';

const kinds = ['plain', 'removed', 'unselected', 'unselected and edited'] as const;
type Kind = (typeof kinds)[number];

interface Copy {
  id: string;
  site: string;
  kind: Kind;
}

export const graces: Story = {
  name: NAME,
  operations: ['createSiteNote', 'updateSiteNote', 'deleteSiteNote', 'deleteStagingSite'],
  begin(sandbox, at) {
    sandbox.staging.clear();
    const name = `${NAME}-${at}`;
    const copies = nextSites(sandbox, at)
      .slice(0, COPIES)
      .map(
        (site, i): Copy => ({
          id: sandbox.staging.make(site, 15),
          site,
          kind: kinds[i % kinds.length] ?? 'plain',
        }),
      );
    const unselected = copies.filter(({ kind }) => kind.startsWith('unselected'));
    const policy = (round: number) => ({
      name,
      job: 'api-call',
      select: {
        from: 'listStagingSites' as const,
        filters: {},
        ...(round === 2 && {
          where: `!(staging.id in [${unselected.map(({ id }) => JSON.stringify(id)).join(', ')}])`,
        }),
      },
      options: apiCall.options.parse({
        operation: 'deleteStagingSite',
        confirm: 'deleteStagingSite',
        grace: `${GRACE_MS / 1000}s`,
      }),
    });
    const judge = new Judge(name, copies, sandbox);
    return {
      policy,
      rounds: 5,
      planned: (round) => (round === 0 ? COPIES : undefined),
      lies: (evidence) => judge.lies(evidence),
      after: (round, now) => {
        judge.noteAnnounced();
        if (round === 0) return 0;
        if (round === 1) judge.people();
        return round === 1 || round === 3 ? judge.untilDue(now) : LATE_MS;
      },
    };
  },
};

class Judge {
  /** The time that each copy was last announced for. */
  private readonly from = new Map<string, number>();
  /** Copies with an open announcement after the run before. */
  private readonly open = new Set<string>();
  /** Copies whose announcement somebody removed. */
  private readonly kept = new Set<string>();
  private readonly edited = new Set<string>();

  constructor(
    private readonly policy: string,
    private readonly copies: readonly Copy[],
    private readonly sandbox: Sandbox,
  ) {}

  /** The times of the open announcements of a copy. */
  private openOn({ id, site }: Copy): number[] {
    const start = `[caretaker ${this.policy}: deleteStagingSite ${id} from `;
    return this.sandbox
      .site(site)
      .notes()
      .flatMap((content) => {
        const at = content.indexOf(start);
        return at === -1 ? [] : [Date.parse(content.slice(at + start.length, at + start.length + 20))];
      });
  }

  noteAnnounced(): void {
    for (const copy of this.copies) {
      const [from] = this.openOn(copy);
      if (from === undefined) this.open.delete(copy.id);
      else {
        this.open.add(copy.id);
        this.from.set(copy.id, from);
      }
    }
  }

  /** People remove some announcements, and edit others. */
  people(): void {
    for (const { id, site, kind } of this.copies) {
      const isOf = (content: string) => content.includes(`deleteStagingSite ${id} from `);
      this.sandbox.site(site).changeNotes((content) => {
        if (!isOf(content)) return content;
        if (kind === 'removed') {
          this.kept.add(id);
          return null;
        }
        if (kind !== 'unselected and edited') return content;
        this.edited.add(id);
        return `${EDITED}\n${content}`;
      });
    }
  }

  /** Until the latest announced time has passed. */
  untilDue(now: number): number {
    const latest = Math.max(now, ...this.copies.flatMap((copy) => this.openOn(copy)));
    return latest - now + LATE_MS;
  }

  *lies({ targets, effects, allEffects, round, sandbox, run }: Evidence): Iterable<string> {
    const there = new Set(sandbox.staging.ids());
    const deletedEver = countBy(allEffects, 'deleteStagingSite');
    const reasonOf = new Map(targets.map(({ id, reason = 'internal' }) => [id, reason]));
    for (const copy of this.copies) {
      const { id, kind } = copy;
      const reason = reasonOf.get(id);
      const withdrawal = reasonOf.get(`announcement of deleteStagingSite ${id}`);
      const open = this.openOn(copy);
      const record = `${id} (${kind}) is ${reason}, its withdrawal ${withdrawal}`;
      const from = this.from.get(id);
      const deletions = effects.filter(
        ({ operation, resource }) => operation === 'deleteStagingSite' && resource === id,
      );
      const isDeleted = deletions.length > 0;
      const isUnselected = kind.startsWith('unselected');
      const isNew = round === 0 || (round === 3 && isUnselected);
      yield* wrongOf(record, [
        [(deletedEver.get(id) ?? 0) > 1, 'and was deleted more than once'],
        [open.length > 1, `and has ${open.length} announcements`],
        [isDeleted && this.kept.has(id), 'and was deleted after its announcement was removed'],
        [isDeleted && from === undefined, 'and was deleted unannounced'],
        [deletions.some(({ at }) => at < (from ?? 0)), `and was deleted before ${from}`],
        [isDeleted && isUnselected && round === 2, 'and was deleted although it is not selected'],
        [isDeleted && isUnselected && round === 3, 'and was deleted without a new announcement'],
        [
          reason === 'done' && (deletions.length !== 1 || there.has(id)),
          `and was deleted ${deletions.length} times`,
        ],
        [reason === 'announced' && open.length !== 1, `and has ${open.length} announcements`],
        [
          reason === 'announced' && isNew && (open[0] ?? 0) < (run.startedAt ?? 0) + GRACE_MS - 1000,
          'too early',
        ],
        // What is due has to be done, unless this run could not.
        [
          reason === 'announced' && round === 2 && kind === 'plain' && from !== undefined,
          'although it is due',
        ],
        [reason === 'announced' && round === 4 && from !== undefined, 'although it is due'],
        [round === 2 && isUnselected && this.open.has(id) && withdrawal === undefined, 'and stays announced'],
        ...(withdrawal === 'announcement-withdrawn' ? this.withdrawalChecks(copy, open) : []),
      ]);
    }
  }

  /** What a withdrawn announcement leaves: nothing, or the note that somebody has edited. */
  private withdrawalChecks({ id, site }: Copy, open: readonly number[]): [boolean, string][] {
    const text = this.sandbox.site(site).notes().join('\n');
    const isEdited = this.edited.has(id);
    return [
      [open.length > 0, 'and is still announced'],
      [isEdited && !text.includes(EDITED), 'and its edited note is gone'],
      [isEdited && !text.includes(`deleteStagingSite ${id}, closed]`), 'and its edited note does not say so'],
      [!isEdited && text.includes(`deleteStagingSite ${id}, closed]`), 'and its note is still there'],
    ];
  }
}
