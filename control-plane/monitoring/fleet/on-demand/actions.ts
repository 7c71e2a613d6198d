import { RunDone } from '../../../../proto/gen/probe/v1/fleet.ts'
import { isRunRefusal, Trigger } from '../../../../shared/checks/result.ts'
import { type RunHint, runDoneSubject, runHintSubject } from '../../../../shared/nats/subjects.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import { jetstreamNowMs, type Nats } from '../../../foundation/platform/nats/client.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs, sleep } from '../../../foundation/platform/time/clock.ts'
import { validationError } from '../../../foundation/web/server/errors.ts'
import { toCheckSpec } from '../../monitors/check-spec.ts'
import { getEffectiveTimeoutMs } from '../../monitors/settings/guarantee.ts'
import type { StoredMonitor } from '../../monitors/types.ts'
import { listRegionEpochs } from '../live-sets/store.ts'
import { type CheckResultResponse, toCheckResultResponse, toMissingResultResponse } from './check-result.ts'
import { encryptSpec, findSizeProblem } from './encrypted-spec.ts'

/** How long a probe may take in addition to the check itself: to receive the request, to start the check, to answer. */
const ANSWER_TIMEOUT_MS = 5_000
/** A probe that drains or is full refuses. After this time another one may have its work. */
const REFUSAL_RETRY_DELAY_MS = 500
/** A hint may be lost on its way, or with the session of the probe, so it is repeated until an answer arrives. */
const HINT_REPEAT_INTERVAL_MS = 1_000

/**
 * Checks a monitor immediately in each of its regions and waits for the results, at most its timeout plus 5 s
 * (docs/design/assignments.md#checks-on-demand). Returns one result for each region, in the monitor's order. A region
 * without a result has the reason.
 */
export function runNow(context: { db: Db; nats: Nats }, monitor: StoredMonitor): Promise<CheckResultResponse[]> {
  return checkInRegions(context, monitor, () => ({ configVersion: monitor.configVersion }))
}

/**
 * Checks a monitor that is not stored once in each of its regions. Nothing is published or stored. Throws 400 when the check
 * is too large for one NATS message.
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

/** The fields of a hint in addition to the run and the monitor. */
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
        return absent('no_probe', `no connected probe of ${region} can run ${monitor.type} checks`)
      }
      const done = await askRegion(nats, monitor, region, extra)
      if (done?.result) return toCheckResultResponse(done.result, region, done.probeId)
      return absent('no_answer', `the probe of ${region} did not answer in time`)
    }),
  )
}

/** Asks until a probe has checked or the time has passed. Then it returns the last refusal, if there was one. */
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
  const message = JSON.stringify(hint)
  for (let leftMs = withinMs; leftMs > 0 && !waiting.signal.aborted; leftMs = endMs - monotonicMs()) {
    nats.connection.publish(runHintSubject(region), message)
    await sleep(Math.min(leftMs, HINT_REPEAT_INTERVAL_MS), waiting.signal)
  }
  subscription.unsubscribe()
  return answer
}
