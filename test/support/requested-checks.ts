import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import { type Db, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { RunDone } from '../../proto/gen/probe/v1/fleet.ts'
import type { Result } from '../../shared/checks/result.ts'
import { type RunHint, runDoneSubject, runHintSubject } from '../../shared/nats/subjects.ts'
import { insertProbe } from './canaries.ts'
import { createResult } from './results.ts'
import type { Teardown } from './teardown.ts'
import { waitFor } from './wait.ts'

const PROBE_ID = '01a1fb92-bd2c-74bd-b89d-7c289ceb0471'

/** Regions with a live probe each, whose checks on demand the test answers in place of the probe. */
export async function openAnsweredRegions(t: Teardown, db: Db, natsUrl: string, regions: readonly string[]) {
  const nats = await connectNats(natsUrl, 'test')
  t.teardown(() => nats.close())
  const hints = new Map<string, RunHint>()
  for (const region of regions) {
    await insertProbe(db, region)
    await execute(
      db,
      `INSERT INTO region_epochs (region, epoch, probe_ids, updated_at)
       SELECT region, 1, ARRAY[id], now() FROM probes WHERE region = ?`,
      [region],
    )
    nats.connection.subscribe(runHintSubject(region), {
      callback: (_error, message) => void hints.set(region, JSON.parse(message.string()) as RunHint),
    })
  }
  /** The result of the check that was requested of a region. */
  const build = async (region: string, changes: Partial<Result> = {}) => {
    const { monitorId, scheduledAtMs, trigger, runId } = await waitFor(() => hints.get(region), {
      label: `the request for ${region}`,
    })
    return createResult(monitorId, scheduledAtMs, { trigger, runId, ...changes })
  }
  const answer = (result: Result) =>
    nats.connection.publish(
      runDoneSubject(result.runId),
      RunDone.encode({ runId: result.runId, probeId: PROBE_ID, result }).finish(),
    )
  return { probeId: PROBE_ID, build, answer }
}
