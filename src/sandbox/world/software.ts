/**
 * Plugins and themes of sites, and their releases. A site's versions are computed from the last installation,
 * so that ten thousand sites cost nothing until they are updated.
 */

import type { Site, Update } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { randomFrom, seedOf } from './random.ts';
import { DAY } from './service-time.ts';

interface Product {
  kind: 'plugin' | 'theme';
  name: string;
  slug: string;
  filename: string;
  major: number;
  /** The days between two versions. */
  everyDays: number;
}

const plugin = (name: string, slug: string, major: number, everyDays: number): Product => ({
  kind: 'plugin',
  name,
  slug,
  filename: `${slug}/${slug}.php`,
  major,
  everyDays,
});
const theme = (name: string, slug: string, major: number, everyDays: number): Product => ({
  kind: 'theme',
  name,
  slug,
  filename: slug,
  major,
  everyDays,
});

/** Every site has the first plugin and the first theme, and some of the others. */
export const products: readonly Product[] = [
  plugin('Contact Form', 'contact-form', 5, 9),
  plugin('Shop', 'shop', 9, 7),
  plugin('Search Ranking', 'search-ranking', 23, 11),
  plugin('Image Gallery', 'image-gallery', 3, 30),
  plugin('Page Cache', 'page-cache', 3, 17),
  plugin('Event Calendar', 'event-calendar', 6, 21),
  theme('Twenty Five', 'twentyfive', 1, 40),
  theme('Storefront', 'storefront', 4, 55),
];

/** The available updates of a site, of its plugins or its themes. */
export function updatesOf(world: World, site: Site, kind: Product['kind'], at: number): Update[] {
  return products.flatMap((product, index) => {
    if (product.kind !== kind || !has(site, index)) return [];
    const [installed, newest] = [installedRelease(world, site, product), releaseAt(product, at)];
    if (installed >= newest) return [];
    const { name, slug, filename, major } = product;
    return [
      {
        name,
        slug,
        filename,
        current_version: versionOf(major, installed),
        target_version: versionOf(major, newest),
      },
    ];
  });
}

/** Installs the releases of these products that were the newest at `at`. */
export function install(world: World, site: Site, filenames: readonly string[], at: number): void {
  for (const product of products) {
    if (!filenames.includes(product.filename)) continue;
    world.updates.installed.set(keyOf(site, product), releaseAt(product, at));
  }
}

/** Resets the site to the releases from before the sandbox started. */
export function fallBack(world: World, site: Site): void {
  for (const product of products) world.updates.installed.delete(keyOf(site, product));
}

const has = (site: Site, index: number): boolean =>
  index === 0 || products[index]?.slug === 'twentyfive' || (site.number * 7 + index * 5) % 3 === 0;

function installedRelease(world: World, site: Site, product: Product): number {
  const known = world.updates.installed.get(keyOf(site, product));
  if (known !== undefined) return known;
  // The last manual update was within the year before the sandbox started.
  const age = randomFrom(seedOf(world.seed, keyOf(site, product))).between(30, 300);
  return releaseAt(product, world.startedAt - age * DAY);
}

const keyOf = (site: Site, { filename }: Product): string => `${site.id} ${filename}`;

/** How many releases there have been since 2024. */
const releaseAt = ({ everyDays }: Product, at: number): number =>
  Math.max(0, Math.floor((at - Date.UTC(2024, 0, 1)) / (everyDays * DAY)));

const versionOf = (major: number, release: number): string =>
  `${major}.${Math.floor(release / 10)}.${release % 10}`;
