import { env, stdout } from 'node:process';

/**
 * The environment for a program that inherits our output: vitest writes colours into a pipe unless `NO_COLOR`
 * is set.
 */
export const colorlessInPipes = () =>
  stdout.isTTY || env['FORCE_COLOR'] || env['CI'] ? env : { ...env, NO_COLOR: '1' };
