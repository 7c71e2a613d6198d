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

type Target = { isAnswering: boolean; heardUs: number }
/** A target that began to fail. `answers`: the number of host answers counted until then. */
type NewFailure = { target: string; place: string; isNew: boolean; atUs: number; answers: number }
type Minute = { failures: number; answers: number }

export function createDoubtDetector(onChange: (isDoubting: boolean, hosts: number) => void = () => {}): DoubtDetector {
  const targets = new Map<string, Target>()
  /** host -> time when its answer was last counted */
  const counted = new Map<string, number>()
  const minutes: Minute[] = [{ failures: 0, answers: 0 }]
  let minuteUs = 0
  let answers = 0
  /** targets that began to fail in the window, or since the doubt began, and still fail; oldest first */
  let failures: NewFailure[] = []
  let doubtedSinceUs: number | null = null
  let endedUs = Number.NEGATIVE_INFINITY
  let mostFailing = 0

  function begin(atUs: number): void {
    doubtedSinceUs = atUs
    mostFailing = failures.length
    onChange(true, failures.length)
  }

  function endIfOver(nowUs: number): void {
    if (doubtedSinceUs === null) return
    const enough = Math.min(targets.size * SHARE_OF_MANY, mostFailing * SHARE_TO_CONTINUE)
    const isOver = failures.length < Math.max(MIN_HOSTS, enough)
    const lastUs = doubtedSinceUs + MAX_DOUBT_US
    if (!isOver && nowUs <= lastUs) return
    endedUs = Math.min(nowUs, lastUs)
    doubtedSinceUs = null
    onChange(false, failures.length)
    failures = []
  }

  /** Starts a new minute, and removes targets and hosts that were not checked for a long time. */
  function startMinute(atUs: number): void {
    if (atUs - minuteUs < MINUTE_US) return
    minuteUs = atUs
    minutes.unshift({ failures: 0, answers: 0 })
    minutes.length = Math.min(minutes.length, BASELINE_MINUTES + 1)
    for (const [name, { heardUs }] of targets) if (atUs - heardUs > FORGET_AGE_US) targets.delete(name)
    for (const [name, countedUs] of counted) if (atUs - countedUs > FORGET_AGE_US) counted.delete(name)
  }

  /** The share of hosts that began to fail in the ten minutes before this one. */
  function baseline(): number {
    let failed = 0
    let checked = 0
    for (let i = 1; i < minutes.length; i++) {
      failed += minutes[i]!.failures
      checked += minutes[i]!.failures + minutes[i]!.answers
    }
    return checked === 0 ? 0 : failed / checked
  }

  /** Whether there is a failure since which too large a share of the checked hosts began to fail. */
  function isJump(): boolean {
    const usual = baseline() * TIMES_BASELINE
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

  function isDoubting(nowUs: number, sinceUs = nowUs): boolean {
    endIfOver(nowUs)
    return doubtedSinceUs !== null || endedUs > sinceUs
  }

  return {
    isDoubting,
    recordAnswer(name, host, atUs) {
      const target = targets.get(name)
      if (target === undefined) targets.set(name, { isAnswering: true, heardUs: atUs })
      else {
        target.heardUs = atUs
        if (!target.isAnswering) failures = failures.filter(failure => failure.target !== name)
        target.isAnswering = true
      }
      // checked immediately, so that attempts that begin later are not doubted
      if (doubtedSinceUs !== null) endIfOver(atUs)
      if (atUs - (counted.get(host) ?? Number.NEGATIVE_INFINITY) < COUNT_INTERVAL_US) return
      counted.set(host, atUs)
      startMinute(atUs)
      answers++
      minutes[0]!.answers++
    },
    recordFailure(name, place, atUs) {
      const known = targets.get(name)
      targets.set(name, { isAnswering: false, heardUs: atUs })
      if (known && !known.isAnswering) return
      startMinute(atUs)
      const wasDoubting = isDoubting(atUs)
      if (!wasDoubting) {
        minutes[0]!.failures++
        failures = failures.filter(failure => atUs - failure.atUs <= WINDOW_US)
      }
      failures.push({ target: name, place, isNew: known === undefined, atUs, answers })
      if (failures.length > MAX_NEW_FAILURES) failures.shift()
      if (wasDoubting) mostFailing = Math.max(mostFailing, failures.length)
      else if (isJump()) begin(atUs)
    },
  }
}
