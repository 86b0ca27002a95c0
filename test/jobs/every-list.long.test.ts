/** Every list with every operation on its items. */
import { describeEveryList } from './every-list.ts';

describeEveryList((fitting) => fitting);
