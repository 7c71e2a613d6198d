import { RunDone } from '../../proto/gen/probe/v1/fleet.ts'
import { REGIONS } from '../../shared/check.ts'
import { Trigger } from '../../shared/result.ts'
import { type RunHint, runDoneSubject, runHintSubject } from '../../shared/subjects.ts'
import { timeoutMsOf } from '../monitors/check-spec.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import { now, nowMs, sleep } from '../platform/clock.ts'
import { crc32 } from '../platform/crc32.ts'
import { newId, randomBase62, toBase62 } from '../platform/ids.ts'
import type { Nats } from '../platform/nats.ts'
import type { Db } from '../platform/postgres.ts'
import { sha256 } from '../platform/secrets.ts'
import { type PresentedResult, presentAbsence, presentResult } from './check-result.ts'
import { isSameSet, nextLiveSet, type ProbeSeen } from './live-set.ts'
import { insertProbeToken, lockRegionEpoch, probesSeen, regionEpochs, saveRegionEpoch, useProbeToken } from './store.ts'
import type { FleetTiming } from './timing.ts'

/**
 * A new enrolment token bound to a region, `prb_…` (decisions 11.1). It is shown this once; only its SHA-256 is kept.
 * Throws an Error with a sentence for the operator when there is no such region.
 */
export async function createProbeToken(db: Db, region: string): Promise<string> {
  if (!(REGIONS as readonly string[]).includes(region)) {
    throw new Error(`there is no region "${region}"; the regions are ${REGIONS.join(', ')}`)
  }
  const body = `prb_${randomBase62(30)}`
  const token = `${body}${checksumOf(body)}`
  await insertProbeToken(db, { id: newId(), region, hash: sha256(token), now: now() })
  return token
}

/**
 * The token of a probe's metadata `authorization: Bearer prb_…`. What was mistyped or cut off is refused without a
 * look-up, by its checksum; what is not known or revoked by one.
 */
export async function findProbeToken(
  db: Db,
  authorization: string | undefined,
): Promise<{ id: string; region: string } | { refusal: string }> {
  const [, token] = /^Bearer +(prb_[0-9A-Za-z]{36})$/i.exec(authorization ?? '') ?? []
  if (token === undefined) return { refusal: 'send the enrolment token as "authorization: Bearer prb_…"' }
  if (checksumOf(token.slice(0, -6)) !== token.slice(-6)) return { refusal: 'the enrolment token is mistyped' }
  return (await useProbeToken(db, sha256(token))) ?? { refusal: 'the enrolment token is not known or was revoked' }
}

const checksumOf = (text: string) => toBase62(crc32(text), 6)

/**
 * Brings the live sets of all regions, or of one, in line with what is known of the probes. Each change takes an epoch
 * of its own, in a transaction that holds the region's row, so any number of fleet processes may call this at once.
 * `mayBury` as in `nextLiveSet`. Returns the regions that changed.
 */
export async function updateLiveSets(
  db: Db,
  timing: FleetTiming,
  { region = null, mayBury }: { region?: string | null; mayBury: boolean },
): Promise<string[]> {
  const epochs = new Map((await regionEpochs(db, region)).map(row => [row.region, row.probeIds]))
  const probes = new Map<string, ProbeSeen[]>()
  for (const probe of await probesSeen(db, region)) {
    const ofRegion = probes.get(probe.region)
    if (ofRegion) ofRegion.push(probe)
    else probes.set(probe.region, [probe])
  }
  const differs = (current: string[], seen: ProbeSeen[]) =>
    !isSameSet([...current].sort(), nextLiveSet(current, seen, timing, mayBury))
  const suspects = [...new Set([...epochs.keys(), ...probes.keys()])].filter(name =>
    differs(epochs.get(name) ?? [], probes.get(name) ?? []),
  )
  const changed: string[] = []
  for (const name of suspects) {
    if (await updateLiveSet(db, timing, name, mayBury)) changed.push(name)
  }
  return changed
}

/** The decision once more, on locked and fresh rows. */
function updateLiveSet(db: Db, timing: FleetTiming, region: string, mayBury: boolean): Promise<boolean> {
  return db.transaction(async tx => {
    const { probeIds } = await lockRegionEpoch(tx, region)
    const next = nextLiveSet(probeIds, await probesSeen(tx, region), timing, mayBury)
    if (isSameSet([...probeIds].sort(), next)) return false
    await saveRegionEpoch(tx, region, next)
    return true
  })
}

/** How long a probe may take beside the check itself: to hear of it, to get a place, to answer. */
const ANSWER_WITHIN_MS = 5_000

/**
 * Checks a monitor at once in each of its regions and waits for the results, at most its timeout and 5 s (decisions
 * 3.1). One result a region, in the monitor's order; a region that gave none says why.
 */
export async function runNow({ db, nats }: { db: Db; nats: Nats }, monitor: StoredMonitor): Promise<PresentedResult[]> {
  const live = new Set((await regionEpochs(db)).filter(row => row.probeIds.length > 0).map(row => row.region))
  const atMs = nowMs()
  return Promise.all(
    monitor.regions.map(async region => {
      if (!live.has(region)) {
        const message = `no probe of ${region} is connected`
        return presentAbsence(monitor.id, region, atMs, { code: 'no_probe', message })
      }
      const done = await askRegion(nats, monitor, region, atMs)
      if (done?.result) return presentResult(done.result, region, done.probeId)
      const message = `the probe of ${region} did not answer in time`
      return presentAbsence(monitor.id, region, atMs, { code: 'no_answer', message })
    }),
  )
}

async function askRegion(nats: Nats, monitor: StoredMonitor, region: string, atMs: number): Promise<RunDone | null> {
  const hint: RunHint = {
    runId: newId(),
    monitorId: monitor.id,
    trigger: Trigger.RUN_NOW,
    scheduledAtMs: atMs,
  }
  const waiting = new AbortController()
  let answer: RunDone | null = null
  const subscription = nats.connection.subscribe(runDoneSubject(hint.runId), {
    max: 1,
    callback(_error, message) {
      answer = RunDone.decode(message.data)
      waiting.abort()
    },
  })
  nats.connection.publish(runHintSubject(region), JSON.stringify(hint))
  await sleep(timeoutMsOf(monitor) + ANSWER_WITHIN_MS, waiting.signal)
  subscription.unsubscribe()
  return answer
}
