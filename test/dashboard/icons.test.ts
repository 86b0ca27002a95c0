/** The icons are those of Lucide. */
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { type IconName, shapes } from '../../src/dashboard/components/icon.tsx';

const { icons } = createRequire(import.meta.url)('@iconify-json/lucide/icons.json') as {
  icons: Record<string, { body: string }>;
};

/** The shapes of an icon of the package, without the attributes that all of them share. */
function shapesOf(name: string): unknown {
  const elements = icons[name]?.body.matchAll(/<([a-z]+)\b([^>]*?)\/?>/g) ?? [];
  return [...elements]
    .filter(([, tag]) => tag !== 'g')
    .map(([, tag, attributes = '']) => [
      tag,
      Object.fromEntries(
        [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)]
          .map(([, key, value]): [string, string] => [String(key), String(value)])
          .filter(([key]) => !/^(fill|stroke.*)$/.test(key)),
      ),
    ]);
}

/** To add an icon, add its name with an empty list: the failure of this test shows the list to write there. */
test.each(Object.keys(shapes) as IconName[])('the icon %s is the one of the package', (name) => {
  expect(shapes[name]).toEqual(shapesOf(name));
});
