/** Every operation with an effect; `lost-answers.test.ts` has one of each form. */
import { changing, describeLostAnswers } from './lost-answers.ts';

describeLostAnswers(changing);
