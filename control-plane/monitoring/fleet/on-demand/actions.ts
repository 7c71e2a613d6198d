import { RunDone } from '../../../../proto/gen/probe/v1/fleet.ts'
import { isRunRefusal, Trigger } from '../../../../shared/checks/result.ts'
import { type RunHint, runDoneSubject, runHintSubject } from '../../../../shared/nats/subjects.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import { jetstreamNowMs, type Nats } from '../../../foundation/platform/nats/client.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs, sleep } from '../../../foundation/platform/time/clock.ts'
import { validationError } from '../../../foundation/web/server/errors.ts'
import { getEffectiveTimeoutMs, toCheckSpec } from '../../monitors/check-spec.ts'
import type { StoredMonitor } from '../../monitors/types.ts'
import { listRegionEpochs } from '../live-sets/store.ts'
import { type CheckResultResponse, toCheckResultResponse, toMissingResultResponse } from './check-result.ts'
import { encryptSpec, findSizeProblem } from './encrypted-spec.ts'

/** How long a probe may take beside the check itself: to hear of it, to get a place, to answer. */
const ANSWER_TIMEOUT_MS = 5_000
/** A probe that drains or is full refuses; by then another one may have its work. */
const REFUSAL_RETRY_DELAY_MS = 500
/** A hint may be lost on its way, or with the session to the probe: it is repeated until there is an answer. */
const HINT_REPEAT_INTERVAL_MS = 1_000

/**
 * Checks a monitor at once in each of its regions and waits for the results, at most its timeout and 5 s (decisions
 * 3.1). One result a region, in the monitor's order; a region that gave none says why.
 */
export function runNow(context: { db: Db; nats: Nats }, monitor: StoredMonitor): Promise<CheckResultResponse[]> {
  return checkInRegions(context, monitor, () => ({ configVersion: monitor.configVersion }))
}

/**
 * The same for a monitor that is not stored: probes that would check it look once, nothing is published or kept, and
 * the only trace is the answer. Throws 400 when it is too large to be handed on.
 */
export function runTest(
  context: { db: Db; nats: Nats; secrets: SecretCipher },
  draft: StoredMonitor,
): Promise<CheckResultResponse[]> {
  const { nats, secrets } = context
  const spec = toCheckSpec({ ...draft, screenshotOnFailure: false, screenshotCompare: false }, secrets)
  const tooLarge = findSizeProblem(spec, nats.connection.info?.max_payload ?? Number.POSITIVE_INFINITY)
  if (tooLarge !== null) throw validationError([{ path: 'body', message: tooLarge }])
  return checkInRegions(context, draft, runId => ({ sealedSpec: encryptSpec(spec, runId, secrets) }))
}

/** What a hint tells beside the run and the monitor. */
type HintExtras = (runId: string) => Pick<RunHint, 'sealedSpec' | 'configVersion'>

async function checkInRegions(
  { db, nats }: { db: Db; nats: Nats },
  monitor: StoredMonitor,
  extra: HintExtras,
): Promise<CheckResultResponse[]> {
  const live = new Map((await listRegionEpochs(db)).map(row => [row.region, row.probes]))
  const atMs = jetstreamNowMs(nats)
  return Promise.all(
    monitor.regions.map(async region => {
      const probes = live.get(region) ?? []
      const absent = (code: 'no_probe' | 'no_answer', message: string) =>
        toMissingResultResponse(monitor.id, region, atMs, { code, message })
      if (probes.length === 0) return absent('no_probe', `no probe of ${region} is connected`)
      if (!probes.some(({ capabilities }) => capabilities.includes(monitor.type))) {
        return absent('no_probe', `no probe of ${region} that is connected can run ${monitor.type} checks`)
      }
      const done = await askRegion(nats, monitor, region, extra)
      if (done?.result) return toCheckResultResponse(done.result, region, done.probeId)
      return absent('no_answer', `the probe of ${region} did not answer in time`)
    }),
  )
}

/** Asks until a probe has looked or the time is up; the last refusal, if any, is better than no answer. */
async function askRegion(
  nats: Nats,
  monitor: StoredMonitor,
  region: string,
  extra: HintExtras,
): Promise<RunDone | null> {
  const endMs = monotonicMs() + getEffectiveTimeoutMs(monitor) + ANSWER_TIMEOUT_MS
  let refusal: RunDone | null = null
  for (;;) {
    const answer = await askOnce(nats, monitor.id, region, { extra, withinMs: endMs - monotonicMs() })
    if (!answer?.result || !isRunRefusal(answer.result)) return answer ?? refusal
    if (monotonicMs() + REFUSAL_RETRY_DELAY_MS >= endMs) return answer
    refusal = answer
    await sleep(REFUSAL_RETRY_DELAY_MS)
  }
}

async function askOnce(
  nats: Nats,
  monitorId: string,
  region: string,
  { extra, withinMs }: { extra: HintExtras; withinMs: number },
): Promise<RunDone | null> {
  const runId = newId()
  const hint: RunHint = {
    runId,
    monitorId,
    trigger: Trigger.RUN_NOW,
    scheduledAtMs: jetstreamNowMs(nats),
    ...extra(runId),
  }
  const waiting = new AbortController()
  let answer: RunDone | null = null
  const subscription = nats.connection.subscribe(runDoneSubject(runId), {
    max: 1,
    callback(_error, message) {
      answer = RunDone.decode(message.data)
      waiting.abort()
    },
  })
  const endMs = monotonicMs() + withinMs
  const told = JSON.stringify(hint)
  for (let leftMs = withinMs; leftMs > 0 && !waiting.signal.aborted; leftMs = endMs - monotonicMs()) {
    nats.connection.publish(runHintSubject(region), told)
    await sleep(Math.min(leftMs, HINT_REPEAT_INTERVAL_MS), waiting.signal)
  }
  subscription.unsubscribe()
  return answer
}
