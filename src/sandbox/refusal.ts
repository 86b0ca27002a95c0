/**
 * An answer that is no success. Handlers throw it, the exchange turns it into a status and `{error: {code,
 * message}}` (the body's structure and the codes are our choice: spec 7 does not show them).
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

/** 404 for an item that is not there, or no longer. */
export const notFound = (what: string, id: string) =>
  new Refusal(404, 'not_found', `There is no ${what} "${id}".`);

/** 400 for a request that does not keep to the contract. */
export const malformed = (message: string) => new Refusal(400, 'bad_request', message);

/** 422 for a request that is well formed and cannot be carried out. */
export const cannot = (code: string, message: string) => new Refusal(422, code, message);

/** 409 for work that has to wait for other work. */
export const conflict = (code: string, message: string) => new Refusal(409, code, message);
