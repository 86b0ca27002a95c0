/** Percentages in configuration and policy files: `10%`. */
import { z } from 'zod';

/** Parses a percentage from 0% to 100% (`2.5%` is 2.5); undefined when `text` is not one. */
export function parsePercent(text: string): number | undefined {
  const match = /^(\d{1,3}(?:\.\d+)?)\s*%$/.exec(text);
  const percent = Number(match?.[1]);
  return match && percent <= 100 ? percent : undefined;
}

/**
 * The schema of a percentage, parsed into a number from `min` to `max`. The percent sign is optional, except
 * for a number below 1: `0.2` might mean 20%.
 */
export const percent = (min: 0 | 1, max: number) => {
  const pattern = `^${min > 0 ? '(?=[0-9]*[1-9])' : ''}(0?[0-9]{1,2}(\\.[0-9]+)?|100(\\.0+)?)\\s*%$`;
  const message = `must be a percentage from ${min}% to ${max}%, such as 10%`;
  return z
    .union([z.string(), z.number()], { error: message })
    .transform((value, context) => {
      if (typeof value === 'number' && value > 0 && value < 1) {
        const meant = `${Number((value * 100).toPrecision(12))}%`;
        context.addIssue({
          code: 'custom',
          message: `must have a percent sign: ${meant}, or ${value}%`,
          params: { form: true },
        });
        return z.NEVER;
      }
      const points = typeof value === 'number' ? value : parsePercent(value);
      if (points !== undefined && points >= min && points <= max) return points;
      const form = typeof value === 'number' || !new RegExp(pattern).test(value);
      context.addIssue({ code: 'custom', message, params: { form } });
      return z.NEVER;
    })
    .meta({
      title: 'percentage',
      anyOf: [
        { type: 'string', pattern, patternErrorMessage: `The value ${message}.` },
        { type: 'number', minimum: Math.max(min, 1), maximum: max },
        ...(min > 0 ? [] : [{ const: 0 }]),
      ],
      examples: [`${max}%`, '10%'],
    });
};
