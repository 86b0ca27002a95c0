/** The forecast of a budget in words, the same for `caretaker budget` and the page Budget. */
import { formatSpan } from '../clock.ts';
import type { ForecastReport } from './budget-report.ts';

const NOT_KNOWN = 'not known';

/** `About 26 requests, less than 1% of the 259200 that can be spent. For 1 policy it is not known.` */
export function forecastSentence(
  { requests, capacity, policies }: ForecastReport,
  number: (count: number) => string = String,
): string {
  const unknown = policies.filter((one) => one.requests_a_run === null).length;
  const percent = Math.round((requests / Math.max(1, capacity)) * 100);
  const part = percent === 0 && requests > 0 ? 'less than 1%' : `${percent}%`;
  const need = Math.round(requests);
  return [
    `About ${number(need)} ${need === 1 ? 'request' : 'requests'}, ${part} of the ${number(capacity)} that can be spent.`,
    ...(unknown > 0 ? [`For ${unknown} ${unknown === 1 ? 'policy' : 'policies'} it is not known.`] : []),
  ].join(' ');
}

/** What the columns of one policy say. */
export function forecastCells(
  one: ForecastReport['policies'][number],
  number: (count: number) => string = String,
): Record<'runs' | 'requests' | 'from' | 'duration' | 'fits', string> {
  const { firings, requests_a_run: requests, known_from: from, takes_seconds: takes, warning } = one;
  const known = (text: string) => (requests === null ? NOT_KNOWN : text);
  return {
    runs: number(firings),
    requests: known(number(Math.round(requests ?? 0))),
    from,
    duration: known(takes === null ? 'does not end' : formatSpan(takes * 1000)),
    fits: warning === null ? known('yes') : 'no',
  };
}
