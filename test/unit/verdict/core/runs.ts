import t from 'tap'
import { decide } from '../../../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState, restoreState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { Decision, MonitorState, Policy, VerdictResult } from '../../../../control-plane/verdict/core/types.ts'
import { FailureSource, Outcome, Trigger } from '../../../../proto/gen/probe/v1/result.ts'

/*
 * The notation. One line a region, then time (seconds, as JetStream took the result) and outcome, again and again:
 *
 *   us  0 .  60 x  61 x  64 x        . up   x down   ~ degraded   ? unknown   - missed
 *   eu  0..300/60 .                  up every 60 s from 0 to 300
 *   us  70 x[s=60,a=2,p=p2,e=3]      scheduled at 60, attempt 2, probe p2, epoch 3; c=2 config version
 *   us  70 .[o,p=p2]                 second opinion of another probe; asked: of the one that checks the monitor
 *   us  70 x[d]                      doubted by its probe; a policy with a witness: [w] is the check of one
 *   us  70 .[extra]                 a check on request while a chain ran
 *   policy  90 retry=0,c=2           a newer configuration: retry, interval, timeout (seconds), regions=us+eu
 *   restart 100                      stored, killed, and taken up again
 *
 * A result is scheduled when it is taken and comes from its region's probe p1 unless it says otherwise.
 */
export const REGIONS: Record<string, string> = {
  us: 'us-east',
  eu: 'eu-west',
  ap: 'ap-southeast',
  uw: 'us-west',
  ec: 'eu-central',
}
export const START_MS = Date.UTC(2026, 0, 1)

const OUTCOMES: Record<string, Outcome> = {
  '.': Outcome.UP,
  x: Outcome.DOWN,
  '~': Outcome.DEGRADED,
  '?': Outcome.UNKNOWN,
  '-': Outcome.MISSED,
}

const TRIGGERS = [
  ['o', Trigger.OTHER_PROBE],
  ['asked', Trigger.SECOND_OPINION],
  ['extra', Trigger.ASIDE],
  ['w', Trigger.WITNESS],
] as const

type Row = {
  title: string
  /** default: 60 s interval, 10 s timeout, retry count 2 */
  policy?: Partial<Policy>
  run: string
  /** every transition, as `down@64`, with `(reduced)` where the quorum was */
  statuses: string
  asks?: string
  /** how every region ends, as `us=failing eu=ok` */
  regions?: string
  /** how many results did not count: history and refused ones */
  ignored?: number
  disagreements?: string
}

type Step = { atMs: number; kind: 'result' | 'policy' | 'restart'; region: string; text: string; options: string }

export function buildPolicy(changes: Partial<Policy> = {}): Policy {
  const standard = {
    configVersion: 1,
    streaksSince: 1,
    retryCount: 2,
    intervalMs: 60_000,
    timeoutMs: 10_000,
    expires: true,
  }
  return { ...standard, regions: ['us-east'], ...changes }
}

export function buildResult(
  changes: Partial<VerdictResult> & { region: string; scheduledAtMs: number },
): VerdictResult {
  const outcome = changes.outcome ?? Outcome.UP
  const refused = { source: FailureSource.TARGET, code: 'ECONNREFUSED', message: 'connection refused' }
  return {
    probeId: `${changes.region}-p1`,
    configVersion: 1,
    epoch: 1,
    attempt: 1,
    outcome,
    trigger: Trigger.SLOT,
    statusCode: outcome === Outcome.UP ? 200 : 0,
    responseTimeMs: 12.5,
    error: outcome === Outcome.DOWN ? refused : null,
    ...changes,
  }
}

/** Runs each row plainly, with every result fed twice, and with the state stored as JSON after every result. */
export function testRows(rows: readonly Row[]): void {
  for (const row of rows) {
    t.test(row.title, async t => {
      const seen = play(row, 1, state => deepFreeze(state))
      t.equal(seen.statuses, row.statuses)
      if (row.asks !== undefined) t.equal(seen.asks, row.asks, 'asks')
      if (row.regions !== undefined) t.equal(seen.regions, row.regions, 'regions')
      if (row.ignored !== undefined) t.equal(seen.ignored, row.ignored, 'ignored')
      if (row.disagreements !== undefined) t.equal(seen.disagreements, row.disagreements, 'disagreements')
      const twice = play(row, 2, state => state)
      t.same({ ...twice, ignored: 0 }, { ...seen, ignored: 0 }, 'feeding every result twice changes nothing')
      t.same(play(row, 1, asStored), seen, 'storing after every result changes nothing')
    })
  }
}

export function play(row: Row, times: number, keep: (state: MonitorState) => MonitorState) {
  let policy = buildPolicy({ regions: regionsIn(row.run), ...row.policy })
  let state = keep(createMonitorState('m-1', policy.configVersion))
  const seen = { statuses: [] as string[], asks: [] as string[], disagreements: [] as string[], ignored: 0 }
  for (const step of parse(row.run)) {
    if (step.kind === 'policy') policy = changePolicy(policy, step.options)
    else if (step.kind === 'restart') state = keep(restoreState(asStored(state), null))
    else {
      for (let i = 0; i < times; i++) {
        const decision = decide(state, resultFrom(step), policy, step.atMs)
        state = keep(decision.state)
        note(seen, decision, step)
      }
    }
  }
  return {
    statuses: seen.statuses.join(' '),
    asks: seen.asks.join(' '),
    disagreements: seen.disagreements.join(' '),
    ignored: seen.ignored,
    regions: state.cells.map(cell => `${shortName(cell.region)}=${cell.state}`).join(' '),
    state,
  }
}

function note(
  seen: { statuses: string[]; asks: string[]; disagreements: string[]; ignored: number },
  { transition, ask, disagreement, kind }: Decision,
  step: Step,
): void {
  const at = `@${(step.atMs - START_MS) / 1000}`
  if (transition) seen.statuses.push(`${transition.to}${at}${transition.quorum === 'reduced' ? '(reduced)' : ''}`)
  if (ask?.otherProbes[0]) seen.asks.push(`${ask.reason}:${shortName(ask.otherProbes[0].region)}${at}`)
  if (ask?.witness) seen.asks.push(`witness${at}`)
  if (disagreement) seen.disagreements.push(`${shortName(disagreement.region)}${at}`)
  if (kind === 'history' || kind === 'refused_future') seen.ignored++
}

/** A duplicate must neither lead to a transition nor to another state; JSON is what PostgreSQL keeps. */
export const asStored = (state: MonitorState): MonitorState => JSON.parse(JSON.stringify(state))

function resultFrom(step: Step): VerdictResult {
  const options = parseOptions(step.options)
  const second = (key: string, fallbackMs: number) =>
    options[key] === undefined ? fallbackMs : START_MS + Number(options[key]) * 1000
  return buildResult({
    region: step.region,
    outcome: OUTCOMES[step.text]!,
    scheduledAtMs: second('s', step.atMs),
    attempt: Number(options.a ?? 1),
    probeId: `${step.region}-${options.p ?? 'p1'}`,
    epoch: Number(options.e ?? 1),
    configVersion: Number(options.c ?? 1),
    trigger: TRIGGERS.find(([option]) => option in options)?.[1] ?? Trigger.SLOT,
    ...('d' in options && { isDoubted: true }),
    ...('code' in options && { statusCode: Number(options.code) }),
  })
}

function changePolicy(policy: Policy, text: string): Policy {
  const options = parseOptions(text)
  return {
    ...policy,
    configVersion: Number(options.c),
    streaksSince: options.keep ? policy.streaksSince : Number(options.c),
    retryCount: Number(options.retry ?? policy.retryCount),
    intervalMs: options.interval ? Number(options.interval) * 1000 : policy.intervalMs,
    timeoutMs: options.timeout ? Number(options.timeout) * 1000 : policy.timeoutMs,
    regions: options.regions ? options.regions.split('+').map(name => REGIONS[name]!) : policy.regions,
  }
}

function parse(run: string): Step[] {
  const steps: Step[] = []
  for (const line of lines(run)) {
    const [name, ...tokens] = line.split(/\s+/) as [string, ...string[]]
    const size = name === 'restart' ? 1 : 2
    for (let i = 0; i < tokens.length; i += size) {
      for (const second of seconds(tokens[i]!)) steps.push(parseStep(name, second, tokens[i + 1] ?? ''))
    }
  }
  return steps.sort((a, b) => a.atMs - b.atMs)
}

function parseStep(name: string, second: number, text: string): Step {
  const atMs = START_MS + Math.round(second * 1000)
  if (name === 'restart') return { atMs, kind: 'restart', region: '', text: '', options: '' }
  if (name === 'policy') return { atMs, kind: 'policy', region: '', text: '', options: text }
  const region = REGIONS[name]
  if (region === undefined || !(text[0]! in OUTCOMES)) throw new Error(`cannot read "${name} ${second} ${text}"`)
  return { atMs, kind: 'result', region, text: text[0]!, options: text.slice(2, -1) }
}

function seconds(text: string): number[] {
  const range = /^([\d.]+)\.\.([\d.]+)\/([\d.]+)$/.exec(text)
  if (range === null) return [Number(text)]
  const [from, to, by] = range.slice(1).map(Number) as [number, number, number]
  return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, i) => from + i * by)
}

function parseOptions(text: string): Record<string, string> {
  return Object.fromEntries(text.split(',').map(pair => pair.split('=') as [string, string]))
}

const lines = (run: string) => run.split('\n').flatMap(line => line.trim() || [])
const shortName = (region: string) => Object.keys(REGIONS).find(key => REGIONS[key] === region) ?? region

function regionsIn(run: string): string[] {
  const names = lines(run).map(line => REGIONS[line.split(/\s+/)[0]!])
  return [...new Set(names.filter(name => name !== undefined))]
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
