/**
 * An answer that is not a success. Handlers throw it, and the exchange turns it into a status and `{error:
 * {code, message}}` (the body's structure and the codes are our choice: spec 7 does not show them).
 */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'Refusal';
  }
}

/** 404 for an item that does not exist, or no longer exists. */
export const notFound = (what: string, id: string) =>
  new Refusal(404, 'not_found', `There is no ${what} "${id}".`);

/** 400 for a request that does not match the contract. */
export const malformed = (message: string) => new Refusal(400, 'bad_request', message);

/** 422 for a request that is well formed but cannot be carried out. */
export const cannot = (code: string, message: string) => new Refusal(422, code, message);

/** 409 for work that has to wait for other work. */
export const conflict = (code: string, message: string) => new Refusal(409, code, message);
