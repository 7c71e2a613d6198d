/** The keys of this process do not decrypt a value, or it belongs to another record. */
export class DecryptionError extends Error {}
