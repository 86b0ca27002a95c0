/** Every page of the dashboard with an address in the world of the screens, found in the table of routes. */
import { openAnnouncements } from '../../src/control/announcements.ts';
import { routes } from '../../src/dashboard/http/routes.ts';
import type { Agency } from './agency.ts';
import { type Scene, signedIn } from './scene.ts';

export interface ScreenPage {
  /** A name for files. */
  name: string;
  path: string;
}

/** What parameters of paths may be, the first that has such a page first. */
export type Candidates = Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>;

export async function candidatesOf({ caretaker: { records } }: Agency, scene: Scene): Promise<Candidates> {
  const partial = await records.runs.list({ policy: 'nightly-sync', status: 'partial', limit: 1 });
  const waiting = await records.runs.list({ status: 'awaiting-approval', limit: 1 });
  const failed = await records.runs.list({ status: 'failed', limit: 1 });
  const runs = [scene.running, scene.closedGate, ...waiting, ...partial, ...failed].map(({ id }) => ({ id }));
  const targets = await records.targets.slice(partial[0]?.id ?? '', 0, 500);
  const target = targets.find(({ outcome }) => outcome === 'failed') ?? targets[0];
  const announced = await openAnnouncements(records);
  return {
    // A run that has one before it, and targets that failed.
    '/runs/:id/compare': partial.map(({ id }) => ({ id })),
    '/runs/:id': runs,
    '/announcements/:id': announced.slice(0, 1).map(({ id }) => ({ id })),
    '/policies/:name': [
      'nightly-sync',
      'check-hacked',
      'safe-updates',
      'activity-logs',
      'monthly-maintenance',
    ].map((name) => ({ name })),
    '/targets/:account/:id': [{ account: 'default', id: target?.id ?? '' }],
    '/notifications/:delivery': (await records.deliveries.list({ limit: 1 })).map(({ id }) => ({
      delivery: id,
    })),
    '/receivers/:receiver': [{ receiver: 'ops' }],
    '/queues/:queue': [{ queue: 'actions' }],
    '/freezes/:freeze': [{ freeze: 'everything' }],
    // No page: files of the browser code.
    '/client/:hash': [],
  };
}

/**
 * The pages for people. A path that ends with a parameter has a picture for each of its candidates; below it, such as
 * `/runs/:id/retry`, the first candidate with such a page is taken.
 *
 * @throws {Error} for a route whose parameters have no candidates.
 */
export async function pagesOf(scene: Scene, candidates: Candidates): Promise<ScreenPage[]> {
  const cookie = await signedIn(scene.url);
  const isPage = async (path: string) => {
    const stop = new AbortController();
    const answer = await fetch(scene.url + path, {
      headers: { cookie, accept: 'text/html' },
      redirect: 'manual',
      signal: stop.signal,
    });
    const found =
      answer.status === 200 && answer.headers.get('content-type')?.startsWith('text/html') === true;
    stop.abort();
    return found;
  };
  const pages: ScreenPage[] = [];
  for (const path of routes.flatMap((route) => (isForPeople(route) ? route.path : []))) {
    const found: string[] = [];
    for (const one of addressesOf(path, candidates)) {
      if (found.length > 0 && !/:\w+$/.test(path)) break;
      if (await isPage(one)) found.push(one);
      else if (/:\w+$/.test(path)) throw new Error(`${one} has no page.`);
    }
    pages.push(
      ...found.map((one, index) => ({
        name: nameOf(path) + (index === 0 ? '' : `-${index + 1}`),
        path: one,
      })),
    );
  }
  return pages;
}

const isForPeople = ({ method, path, access, programs }: (typeof routes)[number]): boolean =>
  method === 'GET' && !programs && (access !== 'open' || path === '/sign-in');

function addressesOf(path: string, candidates: Candidates): string[] {
  if (!path.includes(':')) return [path];
  const of = Object.keys(candidates).find((begin) => path === begin || path.startsWith(`${begin}/`));
  if (of === undefined) {
    throw new Error(
      `What stands for the parameters of ${path}? Say it in candidatesOf (test/screens/pages.ts).`,
    );
  }
  return (candidates[of] ?? []).map((values) =>
    path.replace(/:(\w+)/g, (_, parameter: string) => encodeURIComponent(values[parameter] ?? '')),
  );
}

/** `/runs/:id/retry`: `run-retry`. */
const nameOf = (path: string): string =>
  path === '/'
    ? 'overview'
    : path
        .split('/')
        .filter((part) => part !== '' && !part.startsWith(':'))
        .join('-') + (/:\w+$/.test(path) ? '-one' : '');
