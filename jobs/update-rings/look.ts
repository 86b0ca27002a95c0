/** What a survey saw, in the form that people see. Pure. */
import { isoTime } from '../../src/clock.ts';
import type { Look, Ring, SiteInRing } from '../../src/job/look.ts';
import type { SurveyedRun } from './read-run.ts';
import type { Survey } from './survey.ts';

/** Of each ring and of each site, so many versions are shown. */
const MAX_VERSIONS = 200;
const MAX_TAKEN = 20;

export function lookOf({ ringsOf, rings, standings, suspects, unwell, urls }: Survey): Look {
  const labelOf = (site: string) => urls.get(site) ?? site;
  const broken = (all: Iterable<readonly [string, { why: string }]>) =>
    [...all].map(([site, { why }]) => ({ site, label: labelOf(site), why }));
  return {
    rings: {
      unwell,
      rings: ringsOf.map(({ name, sites, schedule, runs }, i): Ring => {
        const versions = [...(standings[i]?.values() ?? [])].map(({ at, ...one }) => ({
          ...one,
          at: at === undefined ? null : isoTime(at),
        }));
        const isProven = (one: { is: string }) => Number(one.is === 'proven');
        return {
          ...{ name, sites: sites.length, is: rings[i]?.is ?? 'wait', why: rings[i]?.why ?? [] },
          schedule: schedule
            ? {
                id: schedule.id,
                status: schedule.status ?? 'not shown',
                next_run_at: (schedule.status === 'active' && schedule.next_update_at) || null,
              }
            : null,
          last_run: lastRun(runs.at(-1)),
          broken: broken(new Map(runs.flatMap(({ open }) => Object.entries(open)))),
          versions: versions
            .sort((a, b) => isProven(a) - isProven(b) || (b.at ?? '').localeCompare(a.at ?? ''))
            .slice(0, MAX_VERSIONS),
        };
      }),
      suspects: suspects.map(({ broke, ...one }) => ({
        ...one,
        broken: broken(broke.map((site) => [site.id, site] as const)),
      })),
    },
    sites: sitesIn(ringsOf),
  };
}

const lastRun = (run: SurveyedRun | undefined): Ring['last_run'] =>
  run ? { at: isoTime(run.at), status: run.status, task: run.task, sites: run.shown } : null;

function sitesIn(rings: Survey['ringsOf']): Map<string, SiteInRing> {
  const sites = new Map<string, SiteInRing>(
    rings.flatMap(({ name, sites }) => sites.map((id) => [id, { ring: name, took: [] }] as const)),
  );
  const newest = rings.flatMap(({ runs }) => runs).sort((a, b) => b.at - a.at);
  for (const { at, sites: took, record } of newest) {
    for (const { id, took: versions } of took) {
      const known = sites.get(id)?.took;
      for (const { item, version } of versions)
        if (known && known.length < MAX_TAKEN && !known.some((one) => one.item === item))
          known.push({ item, version, at: isoTime(at), broke: record.broke[id]?.why ?? null });
    }
  }
  return sites;
}
