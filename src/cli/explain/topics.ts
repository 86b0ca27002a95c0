/** Where words are looked up, those sources first that load fast. */
import { errorTopics } from './errors-page.ts';
import type { Topics } from './topic.ts';

/** Everything but the jobs. */
export async function loadTopics(): Promise<Topics[]> {
  const [{ functionTopics }, { operationTopics }, { keyTopics }] = await Promise.all([
    import('./functions.ts'),
    import('./operations.ts'),
    import('./keys.ts'),
  ]);
  return [errorTopics(), functionTopics(), operationTopics(), keyTopics()];
}

/** Loads every job, with all that jobs need. */
export const loadJobTopics = async (): Promise<Topics> => (await import('./jobs.ts')).jobTopics();
