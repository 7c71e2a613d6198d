import type { MonitorState } from '../../control-plane/verdict/core/types.ts'
import { createByteWriter } from '../../control-plane/verdict/reader/checkpoint/bytes.ts'
import {
  readCheckpoint,
  writeCheckpointHeader,
  writeMonitor,
} from '../../control-plane/verdict/reader/checkpoint/checkpoint.ts'
import type { CheckpointPosition } from '../../control-plane/verdict/reader/partitions/start-position.ts'
import type { MonitorRow } from './database.ts'

/** A checkpoint with the states themselves: states are immutable, so they are encoded only when the checkpoint is read. */
export type Checkpoint = CheckpointPosition & { states: [id: string, state: MonitorState, isUnstored: boolean][] }

const toVerdictMonitor = ({ id, configVersion, streaksSince, settings, status, isPaused, state }: MonitorRow) => ({
  ...{ id, configVersion, streaksSince, status, isPaused, isDeleted: false, state },
  regions: [...settings.regions],
  retryCount: settings.retryCount,
  intervalSeconds: settings.intervalS,
  timeoutMs: settings.timeoutMs,
  witness: settings.witness,
})

/** Copies a row as if it were read from PostgreSQL. */
export function copyMonitorRow(row: MonitorRow) {
  const watched = toVerdictMonitor(row)
  return { ...watched, state: watched.state && (JSON.parse(JSON.stringify(watched.state)) as typeof watched.state) }
}

/** Encodes and decodes the states, as if they were stored in PostgreSQL. */
export function copyCheckpointStates({ takenAtMs, states }: Checkpoint) {
  const out = createByteWriter()
  const names = new Map<string, number>()
  writeCheckpointHeader(out)
  for (const [, state, isUnstored] of states) writeMonitor(out, names, { takenAtMs }, state, isUnstored)
  return readCheckpoint(out.bytes(), { takenAtMs })
}
