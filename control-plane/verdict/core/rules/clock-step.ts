import { shiftDoubtTimes } from '../confirmation/held-vote.ts'
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
  const { fence, firstFailure, secondOpinion: opinion } = cell
  const slot = (ms: number) => ms + Math.min(0, stepMs)
  const { configVersion, epoch, scheduledAtMs, attempt } = fence
  return {
    ...cell,
    fence: stepMs < 0 ? { configVersion, epoch, scheduledAtMs: slot(scheduledAtMs), attempt } : fence,
    votedAtMs: cell.votedAtMs === null ? null : cell.votedAtMs + stepMs,
    firstFailure: firstFailure && {
      atMs: firstFailure.atMs + stepMs,
      scheduledAtMs: slot(firstFailure.scheduledAtMs),
    },
    ...shiftDoubtTimes(cell, stepMs, Math.min(0, stepMs)),
    secondOpinion: opinion && {
      ...opinion,
      scheduledAtMs: slot(opinion.scheduledAtMs),
      takenAtMs: opinion.takenAtMs + stepMs,
      renewalAskedAtMs: opinion.renewalAskedAtMs === null ? null : opinion.renewalAskedAtMs + stepMs,
    },
  }
}

/** A stored state with times from before JetStream's clock was set back: times ahead of now become now. */
export function clampStateTimes(state: MonitorState, nowMs: number): MonitorState {
  const until = (ms: number | null) => (ms === null ? null : Math.min(ms, nowMs))
  const isAhead = (ms: number | null | undefined) => ms != null && ms > nowMs
  const times = [state.statusSinceMs, state.outageSinceMs, state.noMajoritySinceMs, state.quorumLostSinceMs]
  const cellTimes = state.cells.flatMap(({ votedAtMs, firstFailure }) => [votedAtMs, firstFailure?.atMs])
  if (![...times, state.askedAtMs, ...cellTimes].some(isAhead)) return state
  return {
    ...state,
    statusSinceMs: until(state.statusSinceMs),
    outageSinceMs: until(state.outageSinceMs),
    noMajoritySinceMs: until(state.noMajoritySinceMs),
    quorumLostSinceMs: until(state.quorumLostSinceMs),
    askedAtMs: until(state.askedAtMs),
    cells: state.cells.map(cell => ({
      ...cell,
      votedAtMs: until(cell.votedAtMs),
      firstFailure: cell.firstFailure && { ...cell.firstFailure, atMs: Math.min(cell.firstFailure.atMs, nowMs) },
    })),
  }
}
