/** What would be done to a target, on one line. */
import { visibleLine } from '../../text.ts';

/** The maximum length of the requests in a row. `--json` has the whole. */
const MAX_REQUEST_LENGTH = 400;

interface Requested {
  id: string;
  requests: readonly { operation: string; params: Readonly<Record<string, unknown>>; body?: unknown }[];
  more?: string;
}

/** The requests of a target, without the id of the target itself. */
export function formatRequests({ id, requests, more }: Requested): string {
  const texts = requests.map(({ operation, params, body }) => {
    const others = Object.entries(params).filter(
      ([, value]) => value !== id && !id.split('/').includes(String(value)),
    );
    const parts = [
      ...others.map(([name, value]) => `${name}=${String(value)}`),
      ...(body === undefined ? [] : [JSON.stringify(body)]),
    ];
    return [operation, ...parts].join(' ');
  });
  const rest = more === undefined ? [] : [`then what is not known yet: ${more}`];
  const text = visibleLine([...texts, ...rest].join('; '));
  return text.length > MAX_REQUEST_LENGTH ? `${text.slice(0, MAX_REQUEST_LENGTH - 1)}…` : text;
}
