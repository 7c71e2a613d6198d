import type { ReadWatching } from '../../control-plane/monitors/present.ts'

/** Without history, and without knowing of probes. */
export const unwatched: ReadWatching = async () => ({ lastCheckedAt: new Map(), liveTypes: null })
