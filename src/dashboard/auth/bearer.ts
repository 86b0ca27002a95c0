import type { Exchange } from '../http/context.ts';

/** Whether the request carries a bearer token. */
export const isBearer = (c: Exchange): boolean => /^bearer /i.test(c.req.header('authorization') ?? '');
