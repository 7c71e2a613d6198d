import type {
  RegionChange,
  StoredAttempt,
  StoredPolicy,
  StoredStep,
} from '../../control-plane/insight/explanations/rehearsal/replay/types.ts'
import { decodeBatch } from '../../control-plane/verdict/reader/counting/decode.ts'
import { BEGIN_MS } from './installation.ts'
import type { JetStream } from './jetstream.ts'
import type { SimulationObserver } from './simulate.ts'

/** What an installation stores of a simulated time: the inputs of the verdict, and its transitions by monitor. */
type VerdictInputs = {
  messages: ReturnType<JetStream['from']>
  policies: Map<string, StoredPolicy[]>
  regionChanges: RegionChange[]
  steps: Map<string, StoredStep[]>
}

const POLL_MS = 500

/** Records the inputs as the tables `results`, `monitor_policies`, `region_changes` and `transitions` do. */
export function recordInputs(): { inputs: VerdictInputs; observe: SimulationObserver } {
  const inputs: VerdictInputs = { messages: [], policies: new Map(), regionChanges: [], steps: new Map() }
  const observe: SimulationObserver = ({ time, database, stream }) => {
    let next = 1
    stream.onStored(() => {
      const messages = stream.from(next)
      inputs.messages.push(...messages)
      next += messages.length
    })
    database.onMonitors(() => {
      for (const row of database.monitors().values()) addPolicy(inputs, row, stream.nowMs())
      return true
    })
    const regions = new Map<string, string>()
    function poll(): void {
      time.after(POLL_MS, poll)
      if (!database.isUnavailable()) addRegionChanges(inputs, database, regions)
    }
    database.onEpochs(() => {
      addRegionChanges(inputs, database, regions)
      return true
    })
    poll()
    return ({ monitorId, to, takenAtMs }) => {
      const known = inputs.steps.get(monitorId) ?? []
      inputs.steps.set(monitorId, known)
      const kind = to === null ? ('unchecked' as const) : ('verdict' as const)
      const status = to as StoredStep['to']
      known.push({ atMs: takenAtMs, to: status, kind, firstFailureMs: null, knownAtMs: stream.nowMs() })
    }
  }
  return { inputs, observe }
}

type Database = Parameters<SimulationObserver>[0]['database']
type Row = Parameters<Database['putMonitor']>[0]

function addPolicy({ policies }: VerdictInputs, row: Row, atMs: number): void {
  const { configVersion, streaksSince, settings, isPaused } = row
  const { regions, retryCount, intervalS: intervalSeconds, timeoutMs, witness } = settings
  const known = policies.get(row.id) ?? []
  policies.set(row.id, known)
  const values = { streaksSince, regions: [...regions], retryCount, intervalSeconds, timeoutMs, witness, isPaused }
  const last = known.at(-1)
  if (last && JSON.stringify({ ...last, ...values }) === JSON.stringify(last)) return
  known.push({ atMs, configVersion, ...values })
}

function addRegionChanges({ regionChanges }: VerdictInputs, database: Database, known: Map<string, string>): void {
  const toMs = (text: string | null) => (text === null ? null : Number(text))
  for (const { region, epoch, absentFrom, absentUntil } of database.regionsNow()) {
    const probeIds = database.liveSet(region)
    const key = JSON.stringify([epoch, probeIds, absentFrom, absentUntil])
    if (known.get(region) === key) continue
    const isFirst = !known.has(region)
    known.set(region, key)
    const atMs = isFirst ? BEGIN_MS : database.clockMs()
    const absence = { absentFromMs: toMs(absentFrom), absentUntilMs: toMs(absentUntil) }
    regionChanges.push({ region, atMs, epoch, probeIds: [...probeIds], ...absence })
  }
}

/** The results of each monitor, in the order in which JetStream took them. */
export function listAttempts({ messages }: VerdictInputs): Map<string, StoredAttempt[]> {
  const attempts = new Map<string, StoredAttempt[]>()
  for (const { subject, data, takenAtMs, sequence } of messages) {
    const { region, probeId, results } = decodeBatch(subject, data)
    for (const result of results) {
      const own = attempts.get(result.monitorId) ?? []
      attempts.set(result.monitorId, own)
      own.push({ region, probeId, result, takenAtMs, sequence, isArrivalStored: true })
    }
  }
  return attempts
}
