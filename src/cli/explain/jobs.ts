/** Jobs, their options, and reasons of jobs that docs/errors.md does not have. Loads every job. */
import { z } from 'zod';
import { loadJobs } from '../../app/load-jobs.ts';
import type { Registry } from '../../job/registry.ts';
import { matching } from './keys.ts';
import { keysOf, type Schema } from './schema-keys.ts';
import type { Topic, Topics } from './topic.ts';

export async function jobTopics(): Promise<Topics> {
  const registry = await loadJobs();
  const topics = [...registry.names().flatMap((name) => topicsOf(name, registry)), ...reasonTopics(registry)];
  return {
    names: () => topics.map(({ name }) => name),
    find: (word) => matching(topics, word),
  };
}

/** The job, then its options under `with`. */
function topicsOf(name: string, registry: Registry): Topic[] {
  const job = registry.get(name);
  if (!job) return [];
  const keys = keysOf(z.toJSONSchema(job.options, { io: 'input', unrepresentable: 'any' }) as Schema);
  const options = keys.map(({ path, type, standard, text }): Topic => {
    const means = standard === '' ? {} : { default: standard.replaceAll('`', '') };
    return {
      name: `with.${path}`,
      kind: `option of the job ${name}`,
      text: text.replaceAll('`', ''),
      facts: { ...(type === '' ? {} : { type: type.replaceAll('`', '') }), ...means },
    };
  });
  return [
    {
      name,
      kind: 'job',
      text: job.summary,
      facts: { options: keys.map(({ path }) => path).join(', ') || 'none' },
    },
    ...options,
  ];
}

const reasonTopics = ({ reasons }: Registry): Topic[] =>
  [...reasons].map(([name, { text, retryable }]) => ({
    name,
    kind: 'reason of an outcome',
    text,
    facts: { 'a retry may help': retryable ? 'yes, without another change' : 'no' },
  }));
