import t from 'tap'
import { createPostgres, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { computeSlots } from '../../shared/checks/slots.ts'
import { startPicket } from '../support/picket.ts'
import { startTarget } from '../support/target.ts'
import { type CheckTimes, findUncheckedSlots } from '../support/unchecked-slots.ts'
import { waitFor } from '../support/wait.ts'

// takes about 60 s

t.setTimeout(600_000)
const LONG_WAIT = { timeoutMs: 120_000 }
const INTERVAL_MS = 12_000
/** As long as the interval: the next slot does not know yet that the chain before it did not count. */
const LATE_AFTER_MS = INTERVAL_MS

t.test(
  'An outage that begins while NATS is unavailable is decided in the first slot that is checked after it is back',
  async t => {
    const [picket, target] = await Promise.all([
      startPicket(t, { probeEnv: { LATE_AFTER_MS: String(LATE_AFTER_MS) } }),
      startTarget(t),
    ])
    const { api, nats } = picket
    const probe = picket.probes[0]!
    const body = { name: 'Shop', type: 'http', url: target.url, regions: ['us-east'], timeout_ms: 2_000 }
    const { id } = (await api.post('/monitors', { ...body, interval_seconds: 30, retry_count: 2 })).body.data
    const db = createPostgres(picket.databaseUrl, 2)
    t.teardown(() => db.destroy())
    // shorter than any plan allows
    await execute(db, 'UPDATE monitors SET interval_seconds = ?, config_version = config_version + 1', [
      INTERVAL_MS / 1_000,
    ])
    const is = async (status: string) => (await api.get(`/monitors/${id}`)).body.data.status === status
    await waitFor(() => is('up'), { ...LONG_WAIT, label: 'up' })
    const seen = target.requests.length
    await waitFor(() => target.requests.length >= seen + 2, { ...LONG_WAIT, label: 'checks of the short interval' })

    await nats.stop()
    await probe.untilEvent('nats_away')
    const before = target.requests.length
    target.behave({ kind: 'answer', status: 500 })
    const chain = () => target.requests.slice(before, before + 3)
    await waitFor(() => chain().length === 3, { ...LONG_WAIT, label: 'a whole chain whose results wait' })
    const lateAtMs = chain()[2]!.atMs + LATE_AFTER_MS
    await waitFor(() => Date.now() > lateAtMs, { label: 'results that are late' })
    const connects = () => probe.lines.filter(({ event }) => event === 'nats_connected')
    const connectedBefore = connects().length
    await nats.restart()
    await waitFor(() => connects().length > connectedBefore, { ...LONG_WAIT, label: 'the probe at NATS' })
    const backAtMs = Date.now()

    await waitFor(() => is('down'), { ...LONG_WAIT, label: 'down' })
    const [down] = (await api.get(`/monitors/${id}/transitions`)).body.data
    const { scheduled_at, attempt } = down.explanation.decided_by
    const decidedMs = Date.parse(scheduled_at)
    const listChecks = async (): Promise<CheckTimes[]> =>
      (await api.get(`/monitors/${id}/checks?per_page=100`)).body.data
    const checks = await waitFor(
      async () => {
        const listed = await listChecks()
        return listed.some(check => check.scheduled_at === scheduled_at) ? listed : null
      },
      { ...LONG_WAIT, label: 'the deciding check in the history' },
    )
    const afterMs = decidedMs - backAtMs
    const detectedMs = Date.parse(down.at) - backAtMs
    t.comment(
      `decided by attempt ${attempt} of the slot ${afterMs} ms after NATS was back; down after ${detectedMs} ms`,
    )
    const between = (slots: number[]) => slots.filter(slotMs => slotMs > backAtMs && slotMs < decidedMs)
    t.same(
      between(checks.map(check => Date.parse(check.scheduled_at))),
      [],
      'no slot was checked before without a decision',
    )
    const slots = computeSlots(id, 'us-east', INTERVAL_MS / 1_000)
    t.same(between(findUncheckedSlots(slots, checks)), [], 'no slot was left out before')
  },
)
