import type { SILENCE_KINDS } from './votes-schema.ts'
import type { CurrentMaintenance, CurrentSilence, StoredSilence } from './votes-store.ts'

type SilenceSource = {
  kind: (typeof SILENCE_KINDS)[number]
  id: string | null
  name: string | null
  until: Date | null
}

/** What holds back the alerts of a monitor (docs/design/suppression.md), the strongest reason first. */
export function listSilencing(
  isPaused: boolean,
  maintenance: readonly CurrentMaintenance[],
  silences: readonly CurrentSilence[],
  downAncestors: readonly { id: string; name: string }[],
  silence: StoredSilence | null,
): SilenceSource[] {
  const list: SilenceSource[] = isPaused ? [{ kind: 'paused', id: null, name: null, until: null }] : []
  for (const window of maintenance) list.push({ kind: 'maintenance', ...window })
  for (const silence of silences) list.push({ kind: 'silenced', ...silence })
  for (const { id, name } of downAncestors) list.push({ kind: 'parent_down', id, name, until: null })
  if (silence?.reason === 'doubt') list.push({ kind: 'parent_doubt', id: null, name: null, until: silence.doubtUntil })
  if (silence?.reason === 'grace') list.push({ kind: 'parent_grace', id: null, name: null, until: silence.graceUntil })
  return list
}
