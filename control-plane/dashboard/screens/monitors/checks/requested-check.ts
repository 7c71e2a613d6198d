import { useRef, useState } from 'preact/hooks'
import { useFollowing } from '../../../browser/following.ts'
import { useFrame } from '../../../core/frame-context.ts'
import type { OperationError, OperationResponse } from '../../../core/operations.ts'

type CheckedMonitor = { id: string; name: string; regions: readonly string[] }
type CheckResult = OperationResponse<'checkMonitor'>['data']['results'][number]

/** A check that a person has requested. */
export type CheckRun = {
  /** counts the requests */
  number: number
  monitor: CheckedMonitor
  /** of the regions that have answered */
  results: readonly CheckResult[]
  /** `recording`: all regions have answered, and the history does not have all results yet */
  state: 'running' | 'recording' | 'ended'
  error: OperationError | null
}

/** How many of the newest checks are searched for the results. */
const MAX_CHECKS = 100
/** How often the history is read after the answer: for half a minute. */
const MAX_READS = 9

/**
 * Checks a monitor now. The answer of the API comes when all regions have answered; until then their results are those that
 * the history has already. Afterwards the page reads again when the history has all of them.
 */
export function useRequestedCheck() {
  const { execute, refresh } = useFrame()
  const [check, setCheck] = useState<CheckRun | null>(null)
  const earlier = useRef<Promise<readonly CheckResult[] | null>>(NOTHING_READ)
  const reads = useRef(0)
  const isRunning = useRef(false)
  /** changes the check, unless it has another state by now */
  const change = ({ number, state }: CheckRun, changes: Partial<CheckRun>) =>
    setCheck(now => (now?.number === number && now.state === state ? { ...now, ...changes } : now))
  const listChecks = async (id: string) => {
    const outcome = await execute('listMonitorChecks', { path: { id }, query: { per_page: MAX_CHECKS } })
    return 'data' in outcome ? outcome.data.data : null
  }
  const start = async (monitor: CheckedMonitor) => {
    if (isRunning.current) return
    isRunning.current = true
    reads.current = 0
    earlier.current = listChecks(monitor.id)
    const started = { number: (check?.number ?? 0) + 1, monitor, results: [], state: 'running', error: null } as const
    setCheck(started)
    const outcome = await execute('checkMonitor', { path: { id: monitor.id } })
    isRunning.current = false
    if ('error' in outcome) change(started, { state: 'ended', error: outcome.error })
    else change(started, { state: 'recording', results: outcome.data.data.results })
  }
  useFollowing(check && check.state !== 'ended' ? `${check.number} ${check.state}` : null, async () => {
    const current = check!
    const [before, listed] = [await earlier.current, await listChecks(current.monitor.id)]
    if (current.state === 'running') {
      if (before && listed) change(current, { results: selectArrived(before, listed) })
      return
    }
    reads.current++
    if (reads.current < MAX_READS && !(listed && hasAll(listed, current.results))) return
    await refresh()
    change(current, { state: 'ended' })
  })
  return { check, start, close: () => setCheck(null) }
}

const NOTHING_READ = Promise.resolve(null)

const isRequested = ({ trigger, attempt }: CheckResult) => trigger === 'run_now' && attempt === 1

/** Whether the history has the results of a check. A result may be that of another check that was in progress. */
export const hasAll = (listed: readonly CheckResult[], results: readonly CheckResult[]): boolean =>
  // where no probe could be asked, there is nothing in the history
  results.every(({ id, probe_id: probe }) => probe === null || listed.some(one => one.id === id))

/**
 * The results of checks on demand that were not listed before the check: the newest one of each region. `listed`: the newest
 * first. The result of another check that was in progress is only in the answer of the API.
 */
export function selectArrived(before: readonly CheckResult[], listed: readonly CheckResult[]): readonly CheckResult[] {
  const fresh = listed.filter(one => isRequested(one) && !before.some(({ id }) => id === one.id))
  return fresh.filter(({ region }, i) => fresh.findIndex(one => one.region === region) === i)
}
