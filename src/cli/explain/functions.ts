/** Functions of CEL. */
import { functionDocs } from '../../expression/function-docs.ts';
import type { Topics } from './topic.ts';

export function functionTopics(): Topics {
  const names = Object.keys(functionDocs);
  return {
    names: () => names,
    find: (word) => {
      const asked = word.replace(/\(.*$/, '').toLowerCase();
      return names.flatMap((name) => {
        const doc = functionDocs[name];
        if (!doc || name.toLowerCase() !== asked) return [];
        const { signature, text, example } = doc;
        return [{ name, kind: 'CEL function', text, facts: { called: signature }, example }];
      });
    },
  };
}
