/**
 * The HTTP API: a loop over the commands. Each is one POST, and one that only reads is a GET unless it has a body.
 * Whether a role permits one is checked, and recorded, where it is carried out.
 */
import { answer, answerOnce } from '../../control/carry-out.ts';
import { type AnyCommand, methodOf } from '../../control/command.ts';
import { commands } from '../../control/commands.ts';
import { InvalidRequestError, MediaTypeError } from '../../control/errors.ts';
import { actorOf } from '../auth/caller.ts';
import type { Exchange, Handler } from '../http/context.ts';
import { sendJson } from './json.ts';

/** The start of every address of the API. */
export const API = '/api/v1';

const handlerOf =
  (command: AnyCommand): Handler =>
  async (c, { control }) => {
    const isGet = methodOf(command) === 'GET';
    const input = { ...(isGet ? queryOf(c) : await bodyOf(c)), ...pathOf(c, command) };
    const by = actorOf(c);
    const key = keyOf(c);
    if (key !== undefined && !command.reads)
      return sendJson(c, await answerOnce(command, control, input, by, key));
    return sendJson(c, await answer(command, control, input, by));
  };

export const commandRoutes = commands.map((command) => ({
  method: methodOf(command),
  path: `${API}${command.path.replace(/\{(\w+)\}/g, ':$1')}`,
  handle: handlerOf(command),
}));

function pathOf(c: Exchange, { path }: AnyCommand): Record<string, string> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return Object.fromEntries(names.map((name) => [name, c.req.param(name) ?? '']));
}

/** A parameter that is given several times is a list. */
const queryOf = (c: Exchange): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? (values[0] ?? '') : values,
    ]),
  );

/** @throws {InvalidRequestError} */
async function bodyOf(c: Exchange): Promise<object> {
  const text = await c.req.text();
  if (text.trim() === '') return {};
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? ''))
    throw new MediaTypeError('Send the body as JSON, with the header Content-Type: application/json.');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidRequestError('The body is not JSON.', { cause: error });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new InvalidRequestError('The body must be a JSON object.');
}

const MAX_KEY_LENGTH = 255;

/** @throws {InvalidRequestError} */
function keyOf(c: Exchange): string | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined || (key.length > 0 && key.length <= MAX_KEY_LENGTH)) return key;
  throw new InvalidRequestError(`The Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters.`);
}
