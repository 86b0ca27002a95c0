/** `in 5 min`, `3 h ago`, in the largest unit. The server and the browser show the same text. */
export function relativeTime(ms: number): string {
  const seconds = Math.abs(ms) / 1000;
  if (seconds < 45) return ms > 0 ? 'soon' : 'just now';
  const [size, unit] = seconds < 3_570 ? [60, 'min'] : seconds < 84_600 ? [3_600, 'h'] : [86_400, 'd'];
  const text = `${Math.round(seconds / Number(size))} ${unit}`;
  return ms > 0 ? `in ${text}` : `${text} ago`;
}

/** `12 min`, `1 h 4 min`: how long something has lasted that goes on. In whole minutes, so that it seldom changes. */
export function lastingTime(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes === 0) return '<\u00a01\u00a0min';
  const units = [
    [Math.floor(minutes / 1_440), 'd'],
    [Math.floor(minutes / 60) % 24, 'h'],
    [minutes % 60, 'min'],
  ] as const;
  const first = units.findIndex(([count]) => count > 0);
  return units
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}\u00a0${unit}`)
    .join(' ');
}
