import { byteWriter } from '../../control-plane/results/bytes.ts'
import { appendMonitor, beginCheckpoint, readCheckpoint } from '../../control-plane/results/checkpoint.ts'
import type { Mark } from '../../control-plane/results/start-position.ts'
import type { MonitorState } from '../../control-plane/verdict/types.ts'
import type { MonitorRow } from './database.ts'

/** Made when it is needed: what is in memory never changes, so it is enough to hold on to it. */
export type Checkpoint = Mark & { states: [id: string, state: MonitorState, isUnstored: boolean][] }

const watchedOf = ({ id, configVersion, streaksSince, settings, status, isPaused, state }: MonitorRow) => ({
  ...{ id, configVersion, streaksSince, status, isPaused, isDeleted: false, state },
  regions: [...settings.regions],
  retryCount: settings.retryCount,
  intervalSeconds: settings.intervalS,
  timeoutMs: settings.timeoutMs,
  witness: settings.witness,
})

/** As it would come back from PostgreSQL. */
export function copyOf(row: MonitorRow) {
  const watched = watchedOf(row)
  return { ...watched, state: watched.state && (JSON.parse(JSON.stringify(watched.state)) as typeof watched.state) }
}

/** Written and read again, as through PostgreSQL. */
export function markedOf({ takenAtMs, states }: Checkpoint) {
  const out = byteWriter()
  const names = new Map<string, number>()
  beginCheckpoint(out)
  for (const [, state, isUnstored] of states) appendMonitor(out, names, { takenAtMs }, state, isUnstored)
  return readCheckpoint(out.bytes(), { takenAtMs })
}
