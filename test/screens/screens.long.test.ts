/**
 * `npm run screens`: a picture of every page of the dashboard. In the long suite, the short form of it: a small
 * agency with a short history, in which every page of the table of routes has an address, and no pictures.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { routes } from '../../src/dashboard/http/routes.ts';
import { startTestRedis } from '../support/redis.ts';
import { type Agency, openAgency, PASSWORD } from './agency.ts';
import { movingClock } from './clock.ts';
import { live } from './history.ts';
import { incident } from './incidents.ts';
import { candidatesOf, pagesOf, type ScreenPage } from './pages.ts';
import { shootForReadme } from './readme.ts';
import { restore, save } from './saved.ts';
import { MORNING, type Scene, setTheScene } from './scene.ts';
import { shoot } from './shoot.ts';

const DAY = 86_400_000;
const { env } = process;
const folder = env['SCREENS'];

interface Asked {
  sites: number;
  days: number;
  /** Where the history is kept, or is from an earlier time. */
  historyFile?: string;
}

async function inTheMorning<T>(
  { sites, days, historyFile }: Asked,
  look: (agency: Agency, scene: Scene) => Promise<T>,
): Promise<T> {
  const redis = await startTestRedis();
  try {
    if (historyFile !== undefined && existsSync(historyFile)) await restore(redis, historyFile);
    else {
      const past = await openAgency(redis, movingClock(MORNING - days * DAY), {
        sites,
        requestsPerMinute: 1_000_000,
      });
      await live(past, MORNING, incident).finally(past.close);
      if (historyFile !== undefined) {
        mkdirSync(dirname(historyFile), { recursive: true });
        await save(redis, historyFile);
      }
    }
    const agency = await openAgency(redis, movingClock(MORNING), { sites, requestsPerMinute: 200 });
    try {
      const scene = await setTheScene(agency);
      return await look(agency, scene).finally(scene.daemon.stop);
    } finally {
      await agency.close();
    }
  } finally {
    await redis.stop();
  }
}

const isWanted = ({ name }: ScreenPage) =>
  env['SCREENS_ONLY'] === undefined || env['SCREENS_ONLY'].split(',').some((part) => name.includes(part));

async function takePictures(into: string): Promise<void> {
  const days = Number(env['SCREENS_DAYS'] ?? 60);
  const asked = { sites: 400, days, historyFile: `${into}/history-${days}.bin` };
  await inTheMorning(asked, async (agency, scene) => {
    const also = (env['SCREENS_ALSO'] ?? '').split(',').filter((path) => path !== '');
    const pages = [
      ...(await pagesOf(scene, await candidatesOf(agency, scene))),
      ...also.map((path) => ({ name: path.replace(/\W+/g, '-').replace(/^-|-$/g, ''), path })),
    ].filter(isWanted);
    if (env['SCREENS_SERVE'] !== undefined) {
      process.stderr.write(
        `${scene.url}, for ana, ben, carla and dirk with the password ${PASSWORD}, until you press Ctrl-C\n`,
      );
      await new Promise(() => undefined);
    }
    const now = agency.clock.now();
    if (env['SCREENS_README'] !== undefined) {
      expect(await shootForReadme(scene.url, pages, now)).toEqual([]);
      return;
    }
    const errors = await shoot(scene.url, pages, {
      folder: into,
      widths: (env['SCREENS_WIDTHS'] ?? '390,834,1440').split(',').map(Number),
      schemes: (env['SCREENS_SCHEMES'] ?? 'light,dark').split(',') as ('light' | 'dark')[],
      firstScreen: env['SCREENS_FIRST'] !== undefined,
      now,
      user: env['SCREENS_USER'] ?? 'ana',
    });
    process.stderr.write(`${pages.length} pages in ${into}\n`);
    expect(errors).toEqual([]);
  });
}

if (folder !== undefined) test('a picture of every page', () => takePictures(folder), 3_600_000);
else
  test('every page of the table of routes has an address in the world of the screens', async () => {
    await inTheMorning({ sites: 40, days: 3 }, async (agency, scene) => {
      const paths = (await pagesOf(scene, await candidatesOf(agency, scene))).map(({ path }) => path);
      expect(paths).toContain(`/runs/${scene.running.id}`);
      expect(paths.length).toBeGreaterThan(
        routes.filter(({ method, programs }) => method === 'GET' && !programs).length / 2,
      );
    });
  });
