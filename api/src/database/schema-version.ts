/** The migrations that the origin was written for, and files that a follower takes. A test compares it with db/migrations. */
export const supportedSchemaVersion = 22;
