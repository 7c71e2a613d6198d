/** "stream not found" */
const NO_STREAM = 10_059

/** True when NATS answered that a stream does not exist; not when it did not answer. */
export const isStreamMissing = (error: unknown): boolean => (error as { code?: number }).code === NO_STREAM
