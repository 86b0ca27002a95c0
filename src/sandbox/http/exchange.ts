/** One request from its headers to its answer, in the order of the service's checks. No sockets here. */
import { checkInput } from '../../contract/input.ts';
import type { QueryFault } from '../../contract/list.ts';
import { type Operation, pathParameters } from '../../contract/operation.ts';
import { type OperationId, operationOf } from '../../contract/operations.ts';
import { published } from '../../contract/schema.ts';
import { sayIssue, writePath } from '../../schema-issue.ts';
import { type PageFaults, readListQuery, requireTimezone } from '../list.ts';
import type { World } from '../model/world.ts';
import { malformed, Refusal } from '../refusal.ts';
import type { Ask, Handler } from '../resources/handler.ts';
import { handlers } from '../resources/table.ts';
import { advance, type Replica } from '../world/settle.ts';
import type { Account } from './account.ts';
import type { Route } from './router.ts';

// Checks the sandbox's own answers against the strict reading of the contract.

/** Every fault of an answer with its path; empty when the answer matches the contract. */
function contractFaults(id: OperationId, answer: unknown): string {
  const { answer: schema } = operationOf(id);
  const read = schema && published(schema).safeParse(answer);
  if (read === undefined || read.success) return '';
  return read.error.issues
    .map((issue) => `${writePath(issue.path) || 'the body'} ${sayIssue(issue, answer)}`)
    .join('; ');
}

// Parses a request's query string and body, and checks them against the contract before a handler gets them.

/** The parts of a request other than its path. */
interface Sent {
  search: URLSearchParams;
  body: string;
}
interface CheckedInput {
  query: Record<string, unknown>;
  body: unknown;
}

/**
 * The query and body of a request, checked against the contract. Nothing is silently dropped: what the
 * operation does not take is refused. Exceptions are a body where it takes none (some HTTP clients send `{}`
 * with every POST), and a query where the operation's row has no 400.
 *
 * @throws {Refusal} 400 for a wrong shape; 422 for a body of the right shape with an invalid value.
 */
function readInput(id: OperationId, params: Record<string, string>, sent: Sent): CheckedInput {
  const operation = operationOf(id);
  const query = readQuery(operation, sent.search);
  const body = operation.body ? readJson(sent.body) : undefined;
  // An invalid id is answered 404, not 400.
  const names = new Set(pathParameters(operation.path));
  const faults = checkInput(id, { ...params, ...query, body }).filter(
    ({ path }) => !names.has(path[0] ?? ''),
  );
  if (faults.length > 0) throw refusalFor(operation, body, faults);
  if (typeof query['timezone'] === 'string') requireTimezone(query['timezone']);
  return { query, body };
}

function refusalFor({ body: schema, errors }: Operation, body: unknown, faults: QueryFault[]): Refusal {
  const message = faults
    .map((fault) => `${writePath(fault.path) || 'the request'} ${fault.message}`)
    .join('; ');
  const issues = schema?.safeParse(body).error?.issues ?? [];
  const isShape = issues.some(({ code }) => code === 'unrecognized_keys' || code === 'invalid_type');
  const isInBodyAlone = faults.every(({ path }) => path[0] === 'body');
  return errors.includes(422) && isInBodyAlone && !isShape
    ? new Refusal(422, 'invalid_value', message)
    : malformed(message);
}

/** An operation whose row has no 400 ignores the query string. */
function readQuery({ list, errors }: Operation, search: URLSearchParams): Record<string, unknown> {
  if (!errors.includes(400)) return {};
  return list ? readListQuery(list, search) : readFlatQuery(search);
}

function readFlatQuery(search: URLSearchParams): Record<string, string> {
  const query: Record<string, string> = Object.create(null) as Record<string, never>;
  for (const [name, value] of search) {
    if (query[name] !== undefined) throw malformed(`"${name}" is given more than once`);
    query[name] = value;
  }
  return query;
}

function readJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('the body is not JSON');
  }
}

interface Request extends Sent {
  /** Undefined when no operation has this method and path. */
  route: Route | undefined;
  /** Whether it requests the description of the interface, which is not an operation (spec 9). */
  asksForDescription: boolean;
  authorization: string | undefined;
  pageFaults: PageFaults;
}

export interface Reply {
  status: number;
  headers: Record<string, string>;
  /** JSON, the bytes of a PDF, or undefined for 204. */
  body: string | Buffer | undefined;
  /** Default: JSON for a text, PDF for bytes. */
  type?: string;
  /** An error of the sandbox itself, for the journal. */
  mistake?: string;
}

export interface Service {
  world: World;
  /** What lists show instead of the world, when they lag. */
  replica: Replica | undefined;
  account: Account;
  /** The service's current time. */
  now(): number;
  /** The machine-readable description of the interface. */
  describe(): object;
  /** Writes an effect to the journal. */
  noteEffect(operation: OperationId, resource: string): void;
}

/**
 * Answers a request. The order of checks: 401, then 403, then 429 (all but 401 count as a request), then 404
 * for an unknown path, then 400 for what the contract does not allow, then the operation itself.
 */
export function answer(service: Service, request: Request): Reply {
  let headers: Record<string, string> = {};
  try {
    service.account.authenticate(request.authorization);
    const spent = service.account.spend();
    headers = spent.headers;
    service.account.requireActive();
    if (spent.exhausted) {
      throw new Refusal(429, 'rate_limit_exceeded', 'The requests of this window are used up.');
    }
    return { ...perform(service, request), headers };
  } catch (error) {
    return { ...refuse(error), headers };
  }
}

type Asked = Omit<Parameters<AnyHandler>[0], 'changed'>;

/** The content of a list. The lists of an item that the replica does not have yet are up to date. */
function listed(replica: Replica | undefined, handler: AnyHandler, ask: Asked): unknown {
  const show = (now: Asked) => handler({ ...now, changed: () => undefined });
  if (!replica) return show(ask);
  try {
    return show({ ...ask, ...replica.behind(ask.now) });
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return show(ask);
    throw error;
  }
}

/** Carries out an operation that may change the world. */
function changing(
  { noteEffect, replica }: Service,
  handler: AnyHandler,
  ask: Asked,
  operation: OperationId,
): unknown {
  // The replica gets its own copy of the body, since the world keeps parts of it.
  const again = replica && { ...ask, body: structuredClone(ask.body) };
  let hasChanged = false;
  const given = handler({
    ...ask,
    changed(resource) {
      hasChanged = true;
      noteEffect(operation, resource);
    },
  });
  if (again && hasChanged) {
    replica.repeat(ask.now, (world) => handler({ ...again, world, changed: () => undefined }));
  }
  return given;
}

type Outcome = Omit<Reply, 'headers'>;

function perform(service: Service, { route, asksForDescription, pageFaults, ...sent }: Request): Outcome {
  if (asksForDescription) return { status: 200, body: JSON.stringify(service.describe()) };
  if (!route) throw new Refusal(404, 'no_such_path', 'There is nothing at this method and path.');
  const operation = operationOf(route.operation);
  const handler = handlerOf(route.operation);
  const given = withinRow(operation, () => {
    const input = readInput(route.operation, route.params, sent);
    const now = service.now();
    advance(service.world, now);
    const ask = { operation, world: service.world, now, params: route.params, pageFaults, ...input };
    if (operation.list) return listed(service.replica, handler, ask);
    return changing(service, handler, ask, route.operation);
  });
  if (operation.success === 204) return { status: 204, body: undefined };
  if (operation.answers === 'pdf') return { status: operation.success, body: given as Buffer };
  const faults = contractFaults(route.operation, given);
  if (faults.length > 0) throw new Error(`${route.operation} would answer against the contract: ${faults}`);
  return { status: operation.success, body: JSON.stringify(given) };
}

/** Runs `act`. A refusal with a status that the operation does not declare is an error of the sandbox. */
function withinRow<T>({ errors, path }: Operation, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Refusal) || errors.includes(error.status)) throw error;
    throw new Error(`${path} does not answer ${error.status} (${error.message})`, { cause: error });
  }
}

/** A handler without its operation's types, for lookups in the table by a name at run time. */
type AnyHandler = (
  ask: Omit<Ask<OperationId>, 'params' | 'query' | 'body'> & { params: object; query: object; body: unknown },
) => unknown;

const handlerOf = (id: OperationId): AnyHandler =>
  (handlers as Record<OperationId, Handler<never>>)[id] as AnyHandler;

function refuse(error: unknown): Outcome {
  if (error instanceof Refusal) {
    const { status, code, message } = error;
    return { status, body: JSON.stringify({ error: { code, message } }) };
  }
  const mistake = error instanceof Error ? error.message : String(error);
  const body = JSON.stringify({
    error: { code: 'sandbox_error', message: `Error in the sandbox: ${mistake}` },
  });
  return { status: 500, body, mistake };
}
