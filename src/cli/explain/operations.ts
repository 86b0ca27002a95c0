/** Operations of the service, from the contract. */
import {
  isOperationId,
  type OperationId,
  operationOf,
  operations,
  whyDestructive,
} from '../../contract/operations.ts';
import { describeOperation, exampleOf } from '../output/describe-operation.ts';
import type { Topic, Topics } from './topic.ts';

export function operationTopics(): Topics {
  const names = Object.keys(operations);
  return {
    names: () => names,
    find: (word) => {
      const name = names.find((one) => one.toLowerCase() === word.toLowerCase());
      return name !== undefined && isOperationId(name) ? [topicOf(name)] : [];
    },
  };
}

const effects = {
  once: 'changes the account with every request, so a lost answer is reconciled before it is sent again',
  repeatable: 'changes the account; a repeated request has the same effect',
};

function topicOf(id: OperationId): Topic {
  const operation = operationOf(id);
  const { section, summary, method, path, list, effect } = operation;
  const destructive = whyDestructive(id);
  const cost = list?.paged ? 'one request for each page of up to 100 items' : 'one request';
  return {
    name: id,
    kind: 'operation of the service',
    text: summary,
    facts: {
      request: `${method} ${path}`,
      effect: effect ? effects[effect] : 'none: it only reads',
      destructive: destructive === undefined ? 'no' : `yes: ${destructive}`,
      cost: `${cost} of the account's requests per minute`,
      specification: `section ${section} (docs/api.md)`,
    },
    example: exampleOf(id, operation),
    details: describeOperation(id)
      .split('\n\n')
      .slice(1)
      .filter((part) => !/^(Effect|Example)\n/.test(part))
      .join('\n'),
  };
}
