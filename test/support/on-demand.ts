import type { Nats } from '../../control-plane/foundation/platform/nats/client.ts'
import { onDemandRoutes } from '../../control-plane/monitoring/fleet/on-demand/routes.ts'
import type { RunNow } from '../../proto/gen/probe/v1/fleet.ts'
import type { Result } from '../../shared/checks/result.ts'
import { all, createTestFleet, PATIENT, type TestProbe } from './fleet.ts'
import { createResourceApi } from './resource-api.ts'
import { createResult } from './results.ts'
import type { Teardown } from './teardown.ts'
import { waitFor } from './wait.ts'

/** The API of checks on demand, and a fleet with one process and a token for probes. */
export async function startOnDemandFleet(t: Teardown, testsPerMinute: number) {
  // routes are registered before there is a NATS server to name
  const context: { nats?: Nats } = {}
  const api = await createResourceApi(t, (app, { db, secrets, checkLiteral }) =>
    onDemandRoutes(app, {
      ...{ db, secrets, checkLiteral, testsPerMinute },
      get nats() {
        return context.nats!
      },
    }),
  )
  const fleet = await createTestFleet(t, api)
  context.nats = fleet.nats
  const { port } = await fleet.start(PATIENT)
  return { api, fleet, port, token: await fleet.token() }
}

/** The result of a requested check, up after 1.234 ms. */
export const resultOfRun = (
  { monitorId, scheduledAtMs, trigger, runId }: RunNow,
  changes: Partial<Result> = {},
): Result => createResult(monitorId, scheduledAtMs, { trigger, runId, totalUs: 1_234, ...changes })

/** Answers the `nth` check that is requested of a probe, counted from 0, as a probe would. */
export async function answerRun(probe: TestProbe, nth: number, toResult: (run: RunNow) => Result): Promise<RunNow> {
  const run = await waitFor(() => all(probe, 'runNow')[nth], { label: 'a requested check' })
  probe.send({ $case: 'runDone', value: { runId: run.runId, probeId: 'another', result: toResult(run) } })
  return run
}
