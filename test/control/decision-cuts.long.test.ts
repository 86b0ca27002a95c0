/** All acts, cut after each command. */
import './decision-cuts.test.ts';
