/** Shares as people write them in our files: `10%`. */
import { z } from 'zod';

/** The percentage of `text` (`2.5%` is 2.5), or nothing when it is not written as one between 0% and 100%. */
export function parsePercent(text: string): number | undefined {
  const match = /^(\d{1,3}(?:\.\d+)?)\s*%$/.exec(text);
  const percent = Number(match?.[1]);
  return match && percent <= 100 ? percent : undefined;
}

/**
 * A share in a file, read into percentage points between `least` and `most`. A bare number is taken for the
 * same, but not one below 1: `0.2` may be meant as 20%.
 */
export const percent = (least: number, most: number) => {
  const says = `must be a percentage from ${least}% to ${most}%, such as 10%`;
  return z
    .union([z.string(), z.number()], { error: says })
    .transform((value, context) => {
      if (typeof value === 'number' && value > 0 && value < 1) {
        const meant = `${Number((value * 100).toPrecision(12))}%`;
        context.addIssue({ code: 'custom', message: `must have a percent sign: ${meant}, or ${value}%` });
        return z.NEVER;
      }
      const points = typeof value === 'number' ? value : parsePercent(value);
      if (points !== undefined && points >= least && points <= most) return points;
      context.addIssue({ code: 'custom', message: says });
      return z.NEVER;
    })
    .meta({ title: 'share' });
};
