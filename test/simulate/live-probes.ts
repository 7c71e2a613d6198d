import type { EpochSpan } from '../../control-plane/verdict/reader/live-sets/live-sets.ts'

/** Epochs are approximately seconds. */
const KEPT_S = 2 * 86_400

/** Records the probes of a new epoch, like the trigger of `live_probes`. `live`: the epochs of each probe, by region. */
export function recordLiveProbes(
  live: Map<string, Map<string, EpochSpan[]>>,
  region: string,
  epoch: number,
  probeIds: readonly string[],
): void {
  const known = live.get(region) ?? new Map<string, EpochSpan[]>()
  live.set(region, known)
  for (const [id, all] of known) {
    const spans = all.filter(({ until }) => until > epoch - KEPT_S)
    known.set(id, spans)
    const open = spans.find(({ until }) => until === Number.POSITIVE_INFINITY)
    if (open && !probeIds.includes(id)) open.until = epoch
  }
  for (const id of probeIds) {
    const spans = known.get(id) ?? []
    known.set(id, spans)
    if (!spans.some(({ until }) => until === Number.POSITIVE_INFINITY))
      spans.push({ from: epoch, until: Number.POSITIVE_INFINITY })
  }
}
