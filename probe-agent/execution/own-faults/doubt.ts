/**
 * Detects that many hosts of a probe begin to fail at the same time, which is more likely a fault of the probe's network
 * than of the hosts (docs/design/probes.md#doubt). Meanwhile failures are reported as doubted. Times in microseconds,
 * monotonic.
 */
export type DoubtDetector = {
  /** Records that a target of a host answered. This is the hot path. */
  recordAnswer: (target: string, host: string, atUs: number) => void
  /** Records that a target did not answer. `place`: its address if known, else its host name. */
  recordFailure: (target: string, place: string, atUs: number) => void
  /** Whether a doubt exists now, or existed at any time since `sinceUs`. */
  isDoubting: (nowUs: number, sinceUs?: number) => boolean
}

const SECOND_US = 1_000_000
const MINUTE_US = 60 * SECOND_US
/** Hosts that began to fail within this window are compared with those that answered in it. */
const WINDOW_US = MINUTE_US
/** Answers of a host count once per interval, so that a host with many monitors counts once. */
const COUNT_INTERVAL_US = 10 * SECOND_US
/** Fewer hosts may fail for a common cause of their own. */
const MIN_HOSTS = 3
/** The share of checked hosts that has to begin to fail: half for few hosts, 3 % for many. */
const SHARE_OF_FEW = 0.5
const SHARE_OF_MANY = 0.03
/** The rule for hosts that were never checked before, as after a start: some may have been down for a long time. */
const MIN_NEW_HOSTS = 5
const SHARE_OF_NEW = 0.8
/** The share has to be at least this multiple of the share in the ten minutes before. */
const TIMES_BASELINE = 3
const BASELINE_MINUTES = 10
/** After this time the failures are considered the normal state. */
const MAX_DOUBT_US = 60 * MINUTE_US
/** A doubt continues while this share of its failing targets still fails, even if that is less than 3 % of all. */
const SHARE_TO_CONTINUE = 0.5
const MAX_NEW_FAILURES = 5_000
/** Targets that were not checked for this long are removed. The longest interval is one hour. */
const FORGET_AGE_US = 70 * MINUTE_US

type Target = { isAnswering: boolean; checkedUs: number }
/** A target that began to fail. `answers`: the number of host answers counted until then. */
type NewFailure = { target: string; place: string; isNew: boolean; atUs: number; answers: number }
type Minute = { failures: number; answers: number }

/** What the functions of the detector share. */
type DoubtState = {
  targets: Map<string, Target>
  /** host -> time when its answer was last counted */
  counted: Map<string, number>
  /** the current minute first */
  minutes: Minute[]
  minuteUs: number
  answers: number
  /** targets that began to fail in the window, or since the doubt began, and still fail; oldest first */
  failures: NewFailure[]
  doubtedSinceUs: number | null
  endedUs: number
  maxFailing: number
  onChange: (isDoubting: boolean, hosts: number) => void
}

export function createDoubtDetector(onChange: (isDoubting: boolean, hosts: number) => void = () => {}): DoubtDetector {
  const doubt: DoubtState = {
    targets: new Map(),
    counted: new Map(),
    minutes: [{ failures: 0, answers: 0 }],
    minuteUs: 0,
    answers: 0,
    failures: [],
    doubtedSinceUs: null,
    endedUs: Number.NEGATIVE_INFINITY,
    maxFailing: 0,
    onChange,
  }
  return {
    isDoubting: (nowUs, sinceUs) => isDoubting(doubt, nowUs, sinceUs),
    recordAnswer: (target, host, atUs) => recordAnswer(doubt, target, host, atUs),
    recordFailure: (target, place, atUs) => recordFailure(doubt, target, place, atUs),
  }
}

function isDoubting(doubt: DoubtState, nowUs: number, sinceUs = nowUs): boolean {
  endIfOver(doubt, nowUs)
  return doubt.doubtedSinceUs !== null || doubt.endedUs > sinceUs
}

function recordAnswer(doubt: DoubtState, name: string, host: string, atUs: number): void {
  const target = doubt.targets.get(name)
  if (target === undefined) doubt.targets.set(name, { isAnswering: true, checkedUs: atUs })
  else {
    target.checkedUs = atUs
    if (!target.isAnswering) doubt.failures = doubt.failures.filter(failure => failure.target !== name)
    target.isAnswering = true
  }
  // checked immediately, so that attempts that begin later are not doubted
  if (doubt.doubtedSinceUs !== null) endIfOver(doubt, atUs)
  if (atUs - (doubt.counted.get(host) ?? Number.NEGATIVE_INFINITY) < COUNT_INTERVAL_US) return
  doubt.counted.set(host, atUs)
  startMinute(doubt, atUs)
  doubt.answers++
  doubt.minutes[0]!.answers++
}

function recordFailure(doubt: DoubtState, name: string, place: string, atUs: number): void {
  const known = doubt.targets.get(name)
  doubt.targets.set(name, { isAnswering: false, checkedUs: atUs })
  if (known && !known.isAnswering) return
  startMinute(doubt, atUs)
  const wasDoubting = isDoubting(doubt, atUs)
  if (!wasDoubting) {
    doubt.minutes[0]!.failures++
    doubt.failures = doubt.failures.filter(failure => atUs - failure.atUs <= WINDOW_US)
  }
  doubt.failures.push({ target: name, place, isNew: known === undefined, atUs, answers: doubt.answers })
  if (doubt.failures.length > MAX_NEW_FAILURES) doubt.failures.shift()
  if (wasDoubting) doubt.maxFailing = Math.max(doubt.maxFailing, doubt.failures.length)
  else if (isJump(doubt)) begin(doubt, atUs)
}

function begin(doubt: DoubtState, atUs: number): void {
  doubt.doubtedSinceUs = atUs
  doubt.maxFailing = doubt.failures.length
  doubt.onChange(true, doubt.failures.length)
}

function endIfOver(doubt: DoubtState, nowUs: number): void {
  if (doubt.doubtedSinceUs === null) return
  const { targets, failures, maxFailing } = doubt
  const enough = Math.min(targets.size * SHARE_OF_MANY, maxFailing * SHARE_TO_CONTINUE)
  const isOver = failures.length < Math.max(MIN_HOSTS, enough)
  const lastUs = doubt.doubtedSinceUs + MAX_DOUBT_US
  if (!isOver && nowUs <= lastUs) return
  doubt.endedUs = Math.min(nowUs, lastUs)
  doubt.doubtedSinceUs = null
  doubt.onChange(false, failures.length)
  doubt.failures = []
}

/** Starts a new minute, and removes targets and hosts that were not checked for a long time. */
function startMinute(doubt: DoubtState, atUs: number): void {
  const { minutes, targets, counted } = doubt
  if (atUs - doubt.minuteUs < MINUTE_US) return
  doubt.minuteUs = atUs
  minutes.unshift({ failures: 0, answers: 0 })
  minutes.length = Math.min(minutes.length, BASELINE_MINUTES + 1)
  for (const [name, { checkedUs }] of targets) if (atUs - checkedUs > FORGET_AGE_US) targets.delete(name)
  for (const [name, countedUs] of counted) if (atUs - countedUs > FORGET_AGE_US) counted.delete(name)
}

/** The share of hosts that began to fail in the ten minutes before this one. */
function computeBaseline(minutes: readonly Minute[]): number {
  let failed = 0
  let checked = 0
  for (let i = 1; i < minutes.length; i++) {
    failed += minutes[i]!.failures
    checked += minutes[i]!.failures + minutes[i]!.answers
  }
  return checked === 0 ? 0 : failed / checked
}

/** Whether there is a failure since which too large a share of the checked hosts began to fail. */
function isJump({ minutes, failures, answers }: Readonly<DoubtState>): boolean {
  const usual = computeBaseline(minutes) * TIMES_BASELINE
  const known = new Set<string>()
  const all = new Set<string>()
  for (let i = failures.length - 1; i >= 0; i--) {
    const { place, isNew, answers: before } = failures[i]!
    all.add(place)
    if (!isNew) known.add(place)
    const needed = Math.max(SHARE_OF_MANY, (SHARE_OF_FEW * MIN_HOSTS) / known.size, usual)
    if (known.size >= MIN_HOSTS && known.size / (known.size + answers - before) >= needed) return true
    if (all.size >= MIN_NEW_HOSTS && all.size / (all.size + answers - before) >= SHARE_OF_NEW) return true
  }
  return false
}
