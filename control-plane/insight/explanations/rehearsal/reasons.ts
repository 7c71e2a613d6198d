import type { RehearsalReason, StoredAttempt } from './replay/types.ts'

export const REASON_CODES = [
  'arrivals_not_stored',
  'settings_not_stored',
  'live_sets_not_stored',
  'clock_set',
  'history_incomplete',
  'differs_from_stored',
] as const

type Reason = RehearsalReason & { code: (typeof REASON_CODES)[number] }

/** What was found while the results were read. */
type ArrivalNotes = { add(attempt: StoredAttempt): void; list(): Reason[] }

/**
 * Notes results whose arrival is not stored, or not in order, which shows that JetStream's clock was set, and results of
 * epochs before `knownEpochs`, whose live sets are not stored. A region that is missing there has no stored live sets.
 */
export function createArrivalNotes(knownEpochs: ReadonlyMap<string, number>): ArrivalNotes {
  let unstoredUntilMs: number | null = null
  let lastSequence = 0
  let wasSet = false
  const unknownRegions = new Set<string>()
  return {
    add({ isArrivalStored, takenAtMs, sequence, region, result }) {
      if (result.epoch < (knownEpochs.get(region) ?? 0)) unknownRegions.add(region)
      if (!isArrivalStored) {
        unstoredUntilMs = takenAtMs
        return
      }
      wasSet ||= sequence < lastSequence
      lastSequence = sequence
    },
    list() {
      const reasons: Reason[] = []
      if (unstoredUntilMs !== null) {
        const message = `The arrival of checks before ${toText(unstoredUntilMs)} is not stored; their end is used instead.`
        reasons.push({ code: 'arrivals_not_stored', message })
      }
      if (unknownRegions.size > 0) {
        const message = `The live probes of ${[...unknownRegions].join(', ')} are stored for a part of the period only.`
        reasons.push({ code: 'live_sets_not_stored', message })
      }
      if (wasSet)
        reasons.push({ code: 'clock_set', message: 'The clock of JetStream was set, or its stream was created again.' })
      return reasons
    },
  }
}

/** How long the newest checks may take to arrive in the history, in ms. */
const HISTORY_DELAY_MS = 60_000

/** Why settings are missing. `fromMs`: since when they are stored; null: they are not. */
export function listMissingSettings(fromMs: number | null, beginMs: number): Reason[] {
  if (fromMs !== null && fromMs <= beginMs) return []
  const message =
    fromMs === null
      ? 'Past settings of the monitor are not stored.'
      : `The settings of the monitor are stored since ${toText(fromMs)} only.`
  return [{ code: 'settings_not_stored', message }]
}

/** Why the stored settings do not lead to the stored transitions. `atMs`: the first difference. */
export function describeDifference(atMs: number, nowMs: number): Reason {
  if (atMs > nowMs - HISTORY_DELAY_MS)
    return { code: 'history_incomplete', message: 'The newest checks are not in the history yet.' }
  const message = `With the stored settings, the stored checks do not give the stored transitions; the first difference is at ${toText(atMs)}. The verdict knew something that is not stored.`
  return { code: 'differs_from_stored', message }
}

const toText = (ms: number) => new Date(ms).toISOString()
