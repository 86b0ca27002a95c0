/** Finds the operation of the contract for a method and path. */
import { pathParameters } from '../../contract/operation.ts';
import { type OperationId, operations } from '../../contract/operations.ts';

export interface Route {
  operation: OperationId;
  params: Record<string, string>;
}

interface Leaf {
  operation: OperationId;
  names: readonly string[];
}
interface Branch {
  literals: Map<string, Branch>;
  parameter?: Branch;
  leaves: Map<string, Leaf>;
}

const root = buildTree();

/**
 * Finds the operation. A literal segment wins over a parameter, so `/clients/delete` is not the client
 * "delete".
 */
export function routeTo(method: string, path: string): Route | undefined {
  return walk(root, method, path.split('/').slice(1), []);
}

function walk(branch: Branch, method: string, segments: string[], values: string[]): Route | undefined {
  const [segment, ...rest] = segments;
  if (segment === undefined) return routeOf(branch.leaves.get(method), values);
  const literal = branch.literals.get(segment);
  const found = literal && walk(literal, method, rest, values);
  if (found) return found;
  const value = decoded(segment);
  if (!branch.parameter || value === undefined) return undefined;
  return walk(branch.parameter, method, rest, [...values, value]);
}

function routeOf(leaf: Leaf | undefined, values: string[]): Route | undefined {
  if (!leaf) return undefined;
  return {
    operation: leaf.operation,
    params: Object.fromEntries(leaf.names.map((name, at) => [name, values[at] ?? ''])),
  };
}

/** The decoded segment; undefined for an empty or malformed one, which names no item. */
function decoded(segment: string): string | undefined {
  try {
    return segment === '' ? undefined : decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function buildTree(): Branch {
  const tree = newBranch();
  for (const [id, { method, path }] of Object.entries(operations)) {
    let branch = tree;
    for (const segment of path.split('/').slice(1)) branch = childOf(branch, segment);
    branch.leaves.set(method, { operation: id as OperationId, names: pathParameters(path) });
  }
  return tree;
}

function childOf(branch: Branch, segment: string): Branch {
  if (segment.startsWith('{')) {
    branch.parameter ??= newBranch();
    return branch.parameter;
  }
  const next = branch.literals.get(segment) ?? newBranch();
  branch.literals.set(segment, next);
  return next;
}

function newBranch(): Branch {
  return { literals: new Map(), leaves: new Map() };
}
