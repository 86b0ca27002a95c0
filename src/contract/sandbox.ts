/** The `Server` header by which the sandbox names itself: no other service answers with it. */
export const SANDBOX_SERVER = 'caretaker-sandbox';
