const monthNames = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' });

/** Why a text written as a day, or a time that begins with one, names none: `February 2026 has 28 days`. */
export function noSuchDay(text: string): string | undefined {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})(?!\d)/.exec(text) ?? [];
  if (year === '') return undefined;
  if (Number(month) < 1 || Number(month) > 12) return `there is no month ${month}`;
  const last = new Date(Date.UTC(Number(year), Number(month), 0));
  const days = last.getUTCDate();
  if (Number(day) >= 1 && Number(day) <= days) return undefined;
  return `${monthNames.format(last)} ${year} has ${days} days`;
}

/** A day in another order or with other marks than ours: `25.12.2026`, `2026/12/25`, `2026-2-3`. */
export const isOtherwiseWritten = (text: string): boolean =>
  /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}$/.test(text) && !/^\d{4}-\d{2}-\d{2}$/.test(text);
