/** A name that nothing in the account has, so that cases in one account do not affect each other. */
export const unused = (what: string): string => `${what}-${Math.random().toString(36).slice(2, 12)}`;
