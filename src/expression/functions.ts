/** The functions of CEL: those that the library lacks, and suggestions for unknown names. */
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../dates.ts';
import { suggestionFor } from '../suggest.ts';
import { countOf } from '../text.ts';
import type { Fault } from './fields.ts';

// The distance between two times as a person writes it: "3 days ago", "in 2 hours".

/**
 * How far `time` is from `now`, rounded down: minutes up to an hour, hours up to two days, then days. The time
 * that stands for null, 1970-01-01, is "never".
 */
export function ago(time: Date, now: Date): string {
  if (time.getTime() === 0) return 'never';
  const passed = now.getTime() - time.getTime();
  const distance = Math.abs(passed);
  if (distance < MINUTE_MS) return 'just now';
  const text =
    distance < HOUR_MS
      ? countOf(Math.floor(distance / MINUTE_MS), 'minute')
      : distance < 2 * DAY_MS
        ? countOf(Math.floor(distance / HOUR_MS), 'hour')
        : countOf(Math.floor(distance / DAY_MS), 'day');
  return passed > 0 ? `${text} ago` : `in ${text}`;
}

interface Duration {
  seconds: bigint;
  nanos: number;
}

/** Conversions that the language defines and the library lacks. */
export function addConversions(environment: Environment): void {
  environment.registerFunction('string(google.protobuf.Timestamp): string', (time: Date) =>
    time.toISOString().replace('.000Z', 'Z'),
  );
  environment.registerFunction(
    'string(google.protobuf.Duration): string',
    ({ seconds, nanos }: Duration) => `${Number(seconds) + nanos / 1e9}s`,
  );
  environment.registerFunction('int(google.protobuf.Timestamp): int', (time: Date) =>
    BigInt(Math.floor(time.getTime() / 1000)),
  );
}

/** `ago(time)`: how far a time is from `now`, in words. */
export function addAgo(environment: Environment, clock: { readonly now: Date }): void {
  environment.registerFunction('ago(google.protobuf.Timestamp): string', (time: Date) =>
    ago(time, clock.now),
  );
}

/** Names of these functions in other languages. */
const otherNames: Record<string, string> = {
  len: 'size',
  length: 'size',
  count: 'size',
  lower: 'lowerAscii',
  toLower: 'lowerAscii',
  toLowerCase: 'lowerAscii',
  upper: 'upperAscii',
  toUpper: 'upperAscii',
  toUpperCase: 'upperAscii',
  includes: 'contains',
  any: 'exists',
  some: 'exists',
  every: 'all',
  match: 're',
  regex: 're',
  test: 're',
  year: 'getFullYear',
  getYear: 'getFullYear',
  month: 'getMonth',
  day: 'getDayOfMonth',
  getDay: 'getDayOfWeek',
  weekday: 'getDayOfWeek',
  hour: 'getHours',
  minute: 'getMinutes',
  str: 'string',
  float: 'double',
  number: 'double',
  date: 'timestamp',
  since: 'ago',
  age: 'ago',
};

/** The error for a call of an unknown function, with a suggestion. */
export function unknownFunction(node: ASTNode, environment: Environment): Fault | undefined {
  if (node.op !== 'call' && node.op !== 'rcall') return undefined;
  const [name] = node.args;
  if (offered(environment).some((one) => one.name === name)) return undefined;
  const names = suggested(environment)
    .filter((one) => isMethod(one) === (node.op === 'rcall'))
    .map((one) => one.name);
  const meant = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined;
  return {
    message: `There is no function ${name}().`,
    offset: node.op === 'rcall' ? node.args[1].end + 1 : node.start,
    suggestion: meant ? `did you mean ${meant}?` : suggestionFor(name, [...new Set(names)]),
  };
}

/** How a function is called that exists, but not for these types. */
export function signaturesOf(name: string, environment: Environment): string | undefined {
  const ways = offered(environment).filter((one) => one.name === name);
  const signatures = [...new Set(ways.map(({ signature }) => signature.replace(/: \S+$/, '')))];
  if (signatures.length === 0) return undefined;
  const shown = signatures.slice(0, 6).map(withPlainTypes).join(', ');
  return `it is called as ${shown}${signatures.length > 6 ? ', ...' : ''}`;
}

/** Functions that are not suggested: useless in conditions, or refused with a message of their own. */
const notSuggested = new Set(
  'has matches dyn type bytes uint bind none of or orValue hasValue value json hex base64 at'.split(' '),
);

/** The functions that are useful in expressions. */
export const suggested = (environment: Environment) =>
  offered(environment).filter(({ name }) => !notSuggested.has(name));

const offered = (environment: Environment) => environment.getDefinitions().functions;

const isMethod = ({ receiverType }: { receiverType: string | null }): boolean => receiverType !== null;

/** CEL's types under the names that an operator knows. */
const withPlainTypes = (text: string): string =>
  text
    .replace(/google\.protobuf\.(Timestamp|Duration)/g, (_, name: string) => name.toLowerCase())
    .replace(/\bdouble\b(?!\()/g, 'number')
    .replaceAll('<dyn>', '')
    .replaceAll('<dyn, dyn>', '');
