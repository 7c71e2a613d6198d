import type { CheckSpec } from '../../shared/check.ts'
import { DOUBT_RECHECK_MS } from '../../shared/rechecks.ts'
import { Trigger } from '../../shared/result.ts'
import type { WitnessHint } from '../../shared/subjects.ts'
import type { Book } from './book.ts'
import type { Desk } from './desk.ts'
import type { Link } from './link.ts'
import { addRun } from './outbox.ts'
import { needOf, probeFor } from './plan.ts'
import type { Entry } from './roster.ts'
import { type RunsInHand, takeInHand, witnessedBy } from './runs-in-hand.ts'

/** A probe that is to confirm a failure, and what it checks. */
export type Witness = { region: string; probeId: string; spec: CheckSpec; tenant: number }

/**
 * A live probe of each region that is not the monitor's, which can run the check; none where the monitor may not be checked
 * elsewhere. All regions are asked, so that a region in trouble does not hide what the others see. The probe of a region is chosen
 * by the run: every process comes to the same one, and the next time it may be another.
 */
export function witnessesFor({ roster, plans }: Book, { runId, monitorId, configVersion }: WitnessHint): Witness[] {
  const entry = roster.entries.get(monitorId)
  const spec = entry?.configVersion === configVersion ? witnessSpec(entry) : null
  if (!entry || !spec) return []
  return [...plans.keys()]
    .filter(region => !entry.regions.includes(region))
    .flatMap(region => {
      const probeId = probeFor(plans.get(region)!, runId, needOf(spec))
      return probeId === null ? [] : [{ region, probeId, spec, tenant: entry.tenant }]
    })
}

/**
 * Witnesses are asked at most this often for a monitor, as a share of the time between checks of a region in doubt: 9 s. The
 * verdict asks twice in a chain when the second time is 10 s or more after the first failure.
 */
const SHARE_OF_PACE = 0.3

/** `nowMs` is monotonic. */
function isAskedLately({ intervalS, witnessAskedMs }: Entry, nowMs: number): boolean {
  const paceMs = Math.min(intervalS * 1000, DOUBT_RECHECK_MS)
  return nowMs - (witnessAskedMs ?? Number.NEGATIVE_INFINITY) < paceMs * SHARE_OF_PACE
}

/** The maximum of checks that a probe makes as a witness at a time: it has monitors of its own. */
const MAX_WITNESSED_AT_ONCE = 250
/** A tenant may have at most this many times the checks that are still free, as on the probe: one alone stops at 200. */
const SHARE_OF_FREE = 4

function hasRoom(runs: RunsInHand, link: Link, tenant: number): boolean {
  const { all, ofTenant } = witnessedBy(runs, link, tenant)
  return ofTenant < SHARE_OF_FREE * (MAX_WITNESSED_AT_ONCE - all)
}

/**
 * Gives the check to those of its witnesses that are linked to this process, each with a run id of its own. Returns their links,
 * and how many witnesses have too much to do.
 */
export function giveToWitnesses(
  { book, links, runs }: Pick<Desk, 'book' | 'links' | 'runs'>,
  hint: WitnessHint,
  nowMs: number,
  newRunId: () => string,
): { given: Link[]; busy: number } {
  const entry = book.roster.entries.get(hint.monitorId)
  const witnesses = witnessesFor(book, hint)
  if (!entry || witnesses.length === 0 || isAskedLately(entry, nowMs)) return { given: [], busy: 0 }
  const linked = witnesses.filter(({ probeId }) => links.has(probeId))
  const given = linked.flatMap(({ probeId, spec, tenant }) => {
    const link = links.get(probeId)!
    const runId = newRunId()
    const { monitorId, configVersion, scheduledAtMs } = hint
    const run = { runId, monitorId, trigger: Trigger.WITNESS, scheduledAtMs, spec, tenant }
    if (!hasRoom(runs, link, tenant) || !addRun(link.outbox, run)) return []
    takeInHand(runs, runId, link, nowMs, { monitorId, configVersion, scheduledAtMs, tenant })
    return [link]
  })
  if (given.length > 0) entry.witnessAskedMs = nowMs
  return { given, busy: linked.length - given.length }
}

/** Headers that hold no secret. */
const HARMLESS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-type',
  'user-agent',
])

/** What a witness checks; null: nothing. It leaves no screenshots and no certificates behind. */
export function witnessSpec({ spec, witness }: Pick<Entry, 'spec' | 'witness'>): CheckSpec | null {
  if (spec === null || witness === undefined) return null
  const plain = { ...spec, screenshotOnFailure: false, screenshotCompare: false, sslCheck: false }
  return witness === 'whole' || !hasCredentials(plain) ? plain : withoutCredentials(plain)
}

function hasCredentials({ url, headers, body, auth }: CheckSpec): boolean {
  return (
    auth !== undefined ||
    body !== undefined ||
    (isWeb(url) && url.includes('?')) ||
    Object.keys(headers).some(isPrivate)
  )
}

/** Only an http(s) address can hold a secret there; the query of a dns address is the question itself. */
const isWeb = (url: string) => /^https?:/i.test(url)

const isPrivate = (header: string) => !HARMLESS.has(header.toLowerCase())

/** Looks only whether the address answers: without what the answer depends on, its content says nothing. */
function withoutCredentials(spec: CheckSpec): CheckSpec {
  const { type, url, method, headers } = spec
  return {
    ...spec,
    type: type === 'keyword' ? 'http' : type,
    url: isWeb(url) ? url.replace(/[?#].*$/s, '') : url,
    method: method === 'HEAD' ? 'HEAD' : 'GET',
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !isPrivate(name))),
    body: undefined,
    auth: undefined,
    keyword: undefined,
    assertions: [],
  }
}
