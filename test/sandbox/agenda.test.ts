import { expect, test } from 'vitest';
import { randomFrom } from '../../src/sandbox/world/numbers.ts';
import { createAgenda } from '../../src/sandbox/world/time.ts';

test('due entries come in order of time, and entries of the same time in the order they were added', () => {
  const random = randomFrom(7);
  const agenda = createAgenda();
  const added = Array.from({ length: 500 }, (_, order) => ({ at: random.between(1, 50), order }));
  for (const { at, order } of added) agenda.add(at, { does: 'run-task', task: `${at} ${order}` });

  const taken: string[] = [];
  for (let entry = agenda.take(50); entry; entry = agenda.take(50)) {
    if (entry.due.does === 'run-task') taken.push(entry.due.task);
  }

  const expected = [...added].sort((left, right) => left.at - right.at || left.order - right.order);
  expect(taken).toEqual(expected.map(({ at, order }) => `${at} ${order}`));
});

test('an entry that is not due stays', () => {
  const agenda = createAgenda();
  agenda.add(10, { does: 'end-task', task: 'later' });
  expect(agenda.take(9)).toBeUndefined();
  expect(agenda.take(10)).toMatchObject({ at: 10 });
  expect(agenda.take(10)).toBeUndefined();
});
