/**
 * A document cannot be served: it is broken, too old, or not there. The bucket has given what it has, so that this says
 * nothing of other documents.
 */
export class DocumentFailure extends Error {}
