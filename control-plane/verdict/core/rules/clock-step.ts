import { mapDoubtTimes } from '../confirmation/held-vote.ts'
import type { MonitorState, RegionTally } from '../types.ts'

/**
 * The state after JetStream's clock was set by `stepMs`: ages stay the same, so a step ends no vote, no hold and no
 * wait. Slots move only with a clock that was set back, because the next slots use the new time. With a clock that was
 * set ahead they are in order without it.
 */
export function shiftStateTimes(state: MonitorState, stepMs: number): MonitorState {
  const moved = (ms: number | null) => (ms === null ? null : ms + stepMs)
  return {
    ...state,
    statusSinceMs: moved(state.statusSinceMs),
    outageSinceMs: moved(state.outageSinceMs),
    noMajoritySinceMs: moved(state.noMajoritySinceMs),
    quorumLostSinceMs: moved(state.quorumLostSinceMs),
    askedAtMs: moved(state.askedAtMs),
    unchecked: state.unchecked && { ...state.unchecked, sinceMs: state.unchecked.sinceMs + stepMs },
    restoredAtMs: moved(state.restoredAtMs),
    cells: state.cells.map(cell => shiftTallyTimes(cell, stepMs)),
  }
}

function shiftTallyTimes(cell: RegionTally, stepMs: number): RegionTally {
  const slot = (ms: number) => ms + Math.min(0, stepMs)
  const taken = (ms: number) => ms + stepMs
  const { configVersion, epoch, scheduledAtMs, attempt } = cell.fence
  const fence = stepMs < 0 ? { configVersion, epoch, scheduledAtMs: slot(scheduledAtMs), attempt } : cell.fence
  return { ...mapTallyTimes(cell, slot, taken), fence }
}

/** The cell with its times mapped: slots, and times at which JetStream took a result. The high-water mark stays. */
function mapTallyTimes(cell: RegionTally, slot: (ms: number) => number, taken: (ms: number) => number): RegionTally {
  const { votedAtMs, firstFailure, secondOpinion: opinion } = cell
  return {
    ...cell,
    votedAtMs: votedAtMs === null ? null : taken(votedAtMs),
    firstFailure: firstFailure && {
      atMs: taken(firstFailure.atMs),
      scheduledAtMs: slot(firstFailure.scheduledAtMs),
    },
    ...mapDoubtTimes(cell, slot, taken),
    secondOpinion: opinion && {
      ...opinion,
      scheduledAtMs: slot(opinion.scheduledAtMs),
      takenAtMs: taken(opinion.takenAtMs),
      renewalAskedAtMs: opinion.renewalAskedAtMs === null ? null : taken(opinion.renewalAskedAtMs),
    },
  }
}

/** A stored state with times from before JetStream's clock was set back: times ahead of now become now. */
export function clampStateTimes(state: MonitorState, nowMs: number): MonitorState {
  const clamp = (ms: number) => Math.min(ms, nowMs)
  const until = (ms: number | null) => (ms === null ? null : clamp(ms))
  const times = [state.statusSinceMs, state.outageSinceMs, state.noMajoritySinceMs, state.quorumLostSinceMs]
  const isAhead = (ms: number | null | undefined) => ms != null && ms > nowMs
  if (![...times, state.askedAtMs, state.unchecked?.sinceMs, ...state.cells.flatMap(listTimes)].some(isAhead))
    return state
  return {
    ...state,
    statusSinceMs: until(state.statusSinceMs),
    outageSinceMs: until(state.outageSinceMs),
    noMajoritySinceMs: until(state.noMajoritySinceMs),
    quorumLostSinceMs: until(state.quorumLostSinceMs),
    askedAtMs: until(state.askedAtMs),
    unchecked: state.unchecked && { ...state.unchecked, sinceMs: clamp(state.unchecked.sinceMs) },
    cells: state.cells.map(cell => mapTallyTimes(cell, clamp, clamp)),
  }
}

/** The times of a cell that are compared with later ones, except for the high-water mark, which has its own rule. */
const listTimes = ({ votedAtMs, firstFailure, secondOpinion, doubt }: RegionTally) => [
  ...[votedAtMs, firstFailure?.atMs, firstFailure?.scheduledAtMs],
  ...[secondOpinion?.scheduledAtMs, secondOpinion?.takenAtMs, secondOpinion?.renewalAskedAtMs],
  ...[doubt?.sinceMs, doubt?.askedForMs, doubt?.witness?.takenAtMs, doubt?.witness?.check.scheduledAtMs],
]
