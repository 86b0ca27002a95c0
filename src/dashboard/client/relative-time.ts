/** `in 5 min`, `3 h ago`, in the largest unit. The server and the browser show the same text. */
export function relativeTime(ms: number): string {
  const seconds = Math.abs(ms) / 1000;
  if (seconds < 45) return ms > 0 ? 'soon' : 'just now';
  const [size, unit] = seconds < 3_570 ? [60, 'min'] : seconds < 84_600 ? [3_600, 'h'] : [86_400, 'd'];
  const text = `${Math.round(seconds / Number(size))} ${unit}`;
  return ms > 0 ? `in ${text}` : `${text} ago`;
}
