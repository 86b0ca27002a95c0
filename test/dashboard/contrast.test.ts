/** The colours of the style sheet can be read: WCAG's contrast of every text colour on every surface. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const file = new URL('../../src/dashboard/client/styles/tokens.css', import.meta.url);
const css = readFileSync(file, 'utf8');

type Colour = readonly [red: number, green: number, blue: number];

const parse = (hex: string): Colour =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as never;

const pairs = new Map(
  [...css.matchAll(/--([a-z\d-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light: parse(light), dark: parse(dark) }],
  ),
);
const tint = Number(/--tint: (\d+)%/.exec(css)?.[1]) / 100;

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: Colour, other: Colour): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

const themes = ['light', 'dark'] as const;
type Theme = (typeof themes)[number];

function colour(name: string, theme: Theme): Colour {
  const pair = pairs.get(name);
  if (!pair) throw new Error(`tokens.css has no colour --${name}`);
  return pair[theme];
}

const surfaces = ['page', 'surface', 'raised', 'hover', 'selected'];
const tones = ['good', 'warn', 'bad', 'busy'];
const texts = ['text', 'dim', 'accent', ...tones];

test.each(themes)('text has a contrast of 4.5 on every surface, %s', (theme) => {
  const poor = surfaces.flatMap((surface) =>
    texts.flatMap((text) => {
      const ratio = contrast(colour(text, theme), colour(surface, theme));
      return ratio < 4.5 ? [`--${text} on --${surface}: ${ratio.toFixed(2)}`] : [];
    }),
  );
  expect(poor).toEqual([]);
});

test.each(themes)('the word of a status has a contrast of 4.5 on its own tint, %s', (theme) => {
  const surface = colour('surface', theme);
  const poor = [...tones, 'dim'].flatMap((tone) => {
    const word = colour(tone, theme);
    const mixed = word.map((value, at) => value * tint + (surface[at] ?? 0) * (1 - tint));
    const ratio = contrast(word, mixed as never);
    return ratio < 4.5 ? [`--${tone}: ${ratio.toFixed(2)}`] : [];
  });
  expect(poor).toEqual([]);
});

test.each(themes)('the main button can be read, and fields and charts stand out with 3 to 1, %s', (theme) => {
  expect(contrast(colour('on-accent', theme), colour('accent-fill', theme))).toBeGreaterThanOrEqual(4.5);
  const series = [1, 2, 3, 4, 5, 6].map((index) => `series-${index}`);
  const shapes = ['line-strong', 'accent', ...tones, ...series];
  const poor = shapes.flatMap((shape) =>
    ['page', 'surface'].flatMap((surface) => {
      const ratio = contrast(colour(shape, theme), colour(surface, theme));
      return ratio < 3 ? [`--${shape} on --${surface}: ${ratio.toFixed(2)}`] : [];
    }),
  );
  expect(poor).toEqual([]);
});
