import { mailWatch } from '../../../jobs/report-dispatch/watch-mail.ts';
import type { Watch } from '../../run/run.ts';
import { syncWatch } from './sync.ts';
import { taskWatch } from './task.ts';
import type { WatchKind } from './watch.ts';

/** Every kind of work that can be followed; a new kind is a file and a line here. */
export const watchKinds = { task: taskWatch, sync: syncWatch, mail: mailWatch } as const;

/** A kind of watch, for code that follows any of them. */
// biome-ignore lint/suspicious/noExplicitAny: the item's type goes with the kind, which only its own functions know.
export const watchKind = (kind: Watch['kind']): WatchKind<any, any> => watchKinds[kind];
