import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '../../probe-agent/config.ts'
import { buildMissedResult } from '../../probe-agent/execution/result-builder.ts'
import { openResultTransport } from '../../probe-agent/results/result-transport.ts'
import { FailureSource, Outcome, type Result } from '../../proto/gen/probe/v1/result.ts'
import { LATE_STREAM } from '../../shared/nats/subjects.ts'
import { createLog } from '../../shared/process/log.ts'
import { startNats } from '../support/nats.ts'
import { collectResults } from '../support/result-collector.ts'
import { waitFor } from '../support/wait.ts'

/** Fifty failed assertions of 1,000 characters: the largest result. */
function longResult(slotMs: number): Result {
  const failed = { type: 'body', operator: 'contains', value: 'v'.repeat(1000), actual: 'a'.repeat(200) }
  return {
    ...buildMissedResult({ monitorId: 'm1', configVersion: 1, epoch: 1 }, slotMs, slotMs),
    outcome: Outcome.DOWN,
    error: { source: FailureSource.TARGET, code: 'assertion_failed', message: 'm'.repeat(500) },
    failedAssertions: Array.from({ length: 50 }, () => failed),
  }
}

for (const { title, lateAfterMs, isLate } of [
  {
    title: 'results of any length that waited for NATS are sent in messages that it takes',
    lateAfterMs: '',
    isLate: false,
  },
  {
    title: 'late results of any length leave the spool, and the next ones go out at once',
    lateAfterMs: '10000',
    isLate: true,
  },
]) {
  t.test(title, async t => {
    const nats = await startNats(t)
    const collector = await collectResults(t, nats.url)
    const dataDir = mkdtempSync(join(tmpdir(), 'picket-post-'))
    const config = readConfig({
      FLEET_URL: '127.0.0.1:1',
      PROBE_TOKEN: 'prb_x',
      DATA_DIR: dataDir,
      LATE_AFTER_MS: lateAfterMs,
    })
    const welcome = { probeId: 'p1', region: 'eu-west', natsUrl: nats.url, natsCredentials: '' }
    const intervals = { heartbeatIntervalMs: 3000, deadAfterMs: 10_000, epoch: 1 }
    const lateMonitorIds = new Set<string>()
    const onLate = (monitorId: string) => lateMonitorIds.add(monitorId)
    const post = openResultTransport(config, { ...welcome, ...intervals }, onLate, createLog('test', 'silent'))
    t.teardown(async () => {
      await post.close()
      rmSync(dataDir, { recursive: true, force: true })
    })
    const slots = Array.from({ length: 100 }, (_, i) => 1000 * i)
    for (const slotMs of slots) post.publish(longResult(slotMs))
    const lateAtMs = performance.now() + 10_500
    if (isLate) await waitFor(() => performance.now() > lateAtMs, { label: 'results that are late' })
    post.useWelcome({ ...welcome, ...intervals })
    const stream = isLate ? LATE_STREAM : undefined
    await waitFor(async () => (await collector.results(stream)).length >= slots.length, { label: 'all results' })
    t.same(
      (await collector.results(stream)).map(result => result.scheduledAtMs),
      slots,
    )
    t.same([...lateMonitorIds], isLate ? [longResult(0).monitorId] : [], 'the probe knows whose results do not count')
    await waitFor(() => post.spoolBytes() === 0, { label: 'an empty spool' })
    t.equal(post.droppedResults(), 0)
    post.publish(longResult(1_000_000))
    await waitFor(async () => (await collector.results()).some(result => result.scheduledAtMs === 1_000_000), {
      label: 'the first result after the late ones',
    })
  })
}
