/** A name that nothing in the account has, so that cases over one account do not meet each other's things. */
export const unused = (what: string): string => `${what}-${Math.random().toString(36).slice(2, 12)}`;
