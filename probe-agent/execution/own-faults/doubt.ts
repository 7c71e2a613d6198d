/**
 * Notices that many hosts of a probe begin to fail at once, which is more likely a fault of its own network than of the
 * hosts (decision 197). While that lasts, failures are reported as doubted. Times in microseconds, monotonic.
 */
export type DoubtDetector = {
  /** A target of a host answered. The hot path. */
  recordAnswer: (target: string, host: string, atUs: number) => void
  /** No answer came from a target. `place`: its host, by the address where that is known. */
  recordFailure: (target: string, place: string, atUs: number) => void
  /** Now, or at any time since then: what began during a doubt may have failed by the same cause. */
  isDoubting: (nowUs: number, sinceUs?: number) => boolean
}

const SECOND_US = 1_000_000
const MINUTE_US = 60 * SECOND_US
/** Hosts that began to fail within this time are compared with those that answered meanwhile. */
const WINDOW_US = MINUTE_US
/** Answers of one host count once in this time, so that a host with many monitors counts as one. */
const COUNT_INTERVAL_US = 10 * SECOND_US
/** Fewer hosts than this may have one cause of their own. */
const MIN_HOSTS = 3
/** Of few hosts, half of those checked meanwhile have to begin to fail; of many, 3 %. */
const SHARE_OF_FEW = 0.5
const SHARE_OF_MANY = 0.03
/** Of hosts that were never checked before, as after a start, nearly all: some may have been down for long. */
const MIN_NEW_HOSTS = 5
const SHARE_OF_NEW = 0.8
/** And so many times the share of the ten minutes before. */
const TIMES_BASELINE = 3
const BASELINE_MINUTES = 10
/** What has lasted so long is the usual state. */
const MAX_DOUBT_US = 60 * MINUTE_US
/** A doubt continues while this many of its first hosts fail, also where they are less than 3 % of all. */
const SHARE_TO_CONTINUE = 0.5
const MAX_NEW_FAILURES = 5_000
/** Hosts that were not checked for this long are forgotten; the longest interval is an hour. */
const FORGET_AGE_US = 70 * MINUTE_US

type Target = { isAnswering: boolean; heardUs: number }
/** A target that began to fail. `answers`: how many hosts had answered by then. */
type NewFailure = { target: string; place: string; isNew: boolean; atUs: number; answers: number }
type Minute = { strikes: number; answers: number }

export function createDoubtDetector(onChange: (isDoubting: boolean, hosts: number) => void = () => {}): DoubtDetector {
  const targets = new Map<string, Target>()
  /** when an answer of each host was counted last */
  const counted = new Map<string, number>()
  const minutes: Minute[] = [{ strikes: 0, answers: 0 }]
  let minuteUs = 0
  let answers = 0
  /** targets that began to fail lately, or since the doubt began, and still fail; oldest first */
  let strikes: NewFailure[] = []
  let doubtedSinceUs: number | null = null
  let endedUs = Number.NEGATIVE_INFINITY
  let mostFailing = 0

  function begin(atUs: number): void {
    doubtedSinceUs = atUs
    mostFailing = strikes.length
    onChange(true, strikes.length)
  }

  function endIfOver(nowUs: number): void {
    if (doubtedSinceUs === null) return
    const enough = Math.min(targets.size * SHARE_OF_MANY, mostFailing * SHARE_TO_CONTINUE)
    const isOver = strikes.length < Math.max(MIN_HOSTS, enough)
    const lastUs = doubtedSinceUs + MAX_DOUBT_US
    if (!isOver && nowUs <= lastUs) return
    endedUs = Math.min(nowUs, lastUs)
    doubtedSinceUs = null
    onChange(false, strikes.length)
    strikes = []
  }

  /** A new minute begins; hosts that were not checked for long are forgotten. */
  function turn(atUs: number): void {
    if (atUs - minuteUs < MINUTE_US) return
    minuteUs = atUs
    minutes.unshift({ strikes: 0, answers: 0 })
    minutes.length = Math.min(minutes.length, BASELINE_MINUTES + 1)
    for (const [name, { heardUs }] of targets) if (atUs - heardUs > FORGET_AGE_US) targets.delete(name)
    for (const [name, countedUs] of counted) if (atUs - countedUs > FORGET_AGE_US) counted.delete(name)
  }

  /** The share of hosts that began to fail in the ten minutes before this one. */
  function baseline(): number {
    let struck = 0
    let checked = 0
    for (let i = 1; i < minutes.length; i++) {
      struck += minutes[i]!.strikes
      checked += minutes[i]!.strikes + minutes[i]!.answers
    }
    return checked === 0 ? 0 : struck / checked
  }

  /** Whether, counted back from now to any of the strikes, too many of the hosts checked since then began to fail. */
  function isJump(): boolean {
    const usual = baseline() * TIMES_BASELINE
    const known = new Set<string>()
    const all = new Set<string>()
    for (let i = strikes.length - 1; i >= 0; i--) {
      const { place, isNew, answers: before } = strikes[i]!
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
        if (!target.isAnswering) strikes = strikes.filter(strike => strike.target !== name)
        target.isAnswering = true
      }
      // at once, so that it is known which attempts began later
      if (doubtedSinceUs !== null) endIfOver(atUs)
      if (atUs - (counted.get(host) ?? Number.NEGATIVE_INFINITY) < COUNT_INTERVAL_US) return
      counted.set(host, atUs)
      turn(atUs)
      answers++
      minutes[0]!.answers++
    },
    recordFailure(name, place, atUs) {
      const known = targets.get(name)
      targets.set(name, { isAnswering: false, heardUs: atUs })
      if (known && !known.isAnswering) return
      turn(atUs)
      const wasDoubting = isDoubting(atUs)
      if (!wasDoubting) {
        minutes[0]!.strikes++
        strikes = strikes.filter(strike => atUs - strike.atUs <= WINDOW_US)
      }
      strikes.push({ target: name, place, isNew: known === undefined, atUs, answers })
      if (strikes.length > MAX_NEW_FAILURES) strikes.shift()
      if (wasDoubting) mostFailing = Math.max(mostFailing, strikes.length)
      else if (isJump()) begin(atUs)
    },
  }
}
