import t from 'tap'
import { migratePostgres } from '../../control-plane/foundation/migrations/postgres/index.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { acceptBaseline } from '../../control-plane/monitoring/screenshots/actions.ts'
import {
  acceptComparisons,
  listDifferences,
  lockBaseline,
} from '../../control-plane/monitoring/screenshots/baseline-store.ts'
import { startScreenshotRecorder } from '../../control-plane/monitoring/screenshots/intake/recorder.ts'
import { Screenshot, ScreenshotKind, ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import { differenceHintSubject, screenshotSubject, secondPictureSubject } from '../../shared/nats/subjects.ts'
import { buildComparison, startScreenshotStore } from '../support/screenshots.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'

// takes about 60 s

const [WHITE, BLACK] = [255, 0]

/** A recorder with a monitor that compares the page of its region us-east. */
async function start(t: Teardown) {
  const context = await startScreenshotStore(t, { replicas: 1, maxBytes: 64 * 1024 ** 2 })
  const { db, nats, monitorId, metrics } = context
  const recorder = startScreenshotRecorder(context)
  t.teardown(() => recorder.stop())
  const hints: object[] = []
  nats.connection.subscribe(differenceHintSubject('us-east'), {
    callback: (_, message) => void hints.push(message.json()),
  })
  const requested: ScreenshotOrder[] = []
  nats.connection.subscribe(secondPictureSubject('us-east'), {
    callback: (_, message) => void requested.push(ScreenshotOrder.decode(message.data)),
  })
  let sent = 0
  const countReceived = async () =>
    [...(await metrics.render()).text.matchAll(/picket_screenshots_total\{outcome="\w+"\} (\d+)/g)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    )
  /** Sends a picture and waits until it is handled. */
  async function send(grey: number, order: Partial<ScreenshotOrder> = {}) {
    sent++
    const shot = buildComparison(monitorId, grey, sent * 1_000, order)
    await nats.js.publish(screenshotSubject('us-east'), Screenshot.encode(shot).finish())
    await waitFor(async () => (await countReceived()) === sent, { label: 'the screenshot to be handled' })
    await nats.connection.flush()
    return shot.id
  }
  const counting = async () =>
    (await listDifferences(db, 'us-east', [monitorId], new Date())).get(monitorId)?.difference
  const baseline = async () =>
    (
      await query<{ id: string }>(db, 'SELECT screenshot_id AS id FROM screenshot_baselines WHERE monitor_id = ?', [
        monitorId,
      ])
    )[0]?.id
  const change = (assignments: string) => execute(db, `UPDATE monitors SET ${assignments} WHERE id = ?`, [monitorId])
  return { ...context, send, counting, baseline, change, hints, requested }
}

t.test('A picture of an earlier address becomes neither the baseline nor a difference of the new one', async t => {
  const { send, counting, baseline, change, db, monitorId } = await start(t)
  await send(WHITE)
  await change(`url = 'https://new.example', config_version = 2`)
  await send(WHITE)
  const first = await send(BLACK, { configVersion: 2 })
  await send(WHITE)
  await send(WHITE)
  await send(BLACK, { configVersion: 2 })
  t.equal(await baseline(), first)
  t.equal(await counting(), 0)
  const stored = await query(db, 'SELECT id FROM screenshots WHERE monitor_id = ?', [monitorId])
  t.equal(stored.length, 3, 'outdated pictures are not stored')
})

t.test('A picture that arrives while a comparison is accepted is compared with the accepted one', async t => {
  const { db, send, monitorId } = await start(t)
  await send(WHITE)
  const accepted = await send(BLACK)
  let arriving: ReturnType<typeof lockBaseline> | undefined
  await db.transaction(async tx => {
    await acceptComparisons(tx, monitorId, new Date())
    arriving = db.transaction(other => lockBaseline(other, monitorId, 'us-east'))
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await waitFor(async () => (await query(db, waiting)).length > 0, { label: 'the arriving picture to wait' })
  })
  t.match((await arriving)?.storeKey, new RegExp(accepted))
})

t.test('A picture is compared without locking its baseline, and again when another was accepted meanwhile', async t => {
  const { db, send, monitorId, objects, projectId, counting } = await start(t)
  const first = await send(WHITE)
  const accepted = await send(BLACK)
  const read: string[] = []
  const { get } = objects
  objects.get = key => {
    read.push(key)
    return get(key)
  }
  const buildKey = (id: string) => `${projectId}/${monitorId}/${id}.png`
  let sending: ReturnType<typeof send> | undefined
  await db.transaction(async tx => {
    await acceptComparisons(tx, monitorId, new Date())
    sending = send(BLACK)
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await waitFor(async () => (await query(db, waiting)).length > 0, { label: 'the picture to wait for the baseline' })
    t.same(read, [buildKey(first)], 'it is compared before it waits')
  })
  await sending
  t.same(read, [buildKey(first), buildKey(accepted)])
  t.equal(await counting(), 0, 'it is the same as the accepted one')
})

t.test('Settings that change what a browser is sent make earlier pictures outdated, others do not', async t => {
  const rows: [string, string, boolean][] = [
    ['headers', `headers = '\\x00'`, true],
    ['credentials', `auth_type = 'bearer', auth_config = '\\x00'`, true],
    ['the comparison is turned off', 'screenshot_compare = NOT screenshot_compare', true],
    ['the monitor is resumed', 'is_paused = false', true],
    ['the interval', 'interval_seconds = 60', false],
    ['an assertion', `assertions = '[]'`, false],
  ]
  const { send, counting, change, db, monitorId } = await start(t)
  await send(WHITE)
  let version = 1
  for (const [name, assignments, isOutdated] of rows) {
    const before = version++
    await send(BLACK, { configVersion: before })
    await send(BLACK, { configVersion: before })
    t.equal(await counting(), 1, 'two pictures differ')
    await execute(db, 'UPDATE monitors SET is_paused = ? WHERE id = ?', [name.includes('resumed'), monitorId])
    await change(`${assignments}, config_version = ${version}`)
    t.equal(await counting(), isOutdated ? undefined : 1, name)
    await send(WHITE, { configVersion: before })
    t.equal(await counting(), isOutdated ? undefined : 0, `a picture of before: ${name}`)
  }
  await send(BLACK, { configVersion: undefined })
  t.equal(await counting(), 0, 'a probe of an earlier version does not send its settings')
})

t.test('One picture that differs does not count, a second one does, and one without a difference ends it', async t => {
  const { send, counting, hints, requested, monitorId } = await start(t)
  await send(WHITE)
  t.same(hints.splice(0), [{ monitorId, difference: null, configVersion: 1 }])
  await send(BLACK)
  t.equal(await counting(), undefined)
  await waitFor(() => requested.length === 1, { label: 'a second picture to be requested' })
  t.match(requested, [{ monitorId, region: 'us-east', scheduledAtMs: 2_000, configVersion: 1 }])
  await send(WHITE)
  t.equal(await counting(), 0, 'the page had not been loaded')
  await send(BLACK)
  t.match(hints, [{ monitorId, difference: 0 }], 'only what counts is sent to probes')
  await send(BLACK)
  t.equal(await counting(), 1)
  t.match(hints.at(-1), { monitorId, difference: 1, configVersion: 1, validUntilMs: Number })
  await send(BLACK)
  t.equal(await counting(), 1, 'it is renewed by each picture')
  t.equal(requested.length, 2, 'a confirmed difference needs no further picture')
  await send(WHITE)
  t.equal(await counting(), 0)
})

t.test('A difference expires, and an expired one confirms nothing', async t => {
  const { send, counting, db, monitorId } = await start(t)
  await send(WHITE)
  await send(BLACK, { validSeconds: 60 })
  await send(BLACK, { validSeconds: 60 })
  t.equal(await counting(), 1)
  const later = new Date(Date.now() + 61_000)
  t.equal((await listDifferences(db, 'us-east', [monitorId], later)).size, 0)
  await execute(db, `UPDATE screenshot_baselines SET expires_at = now() - interval '1 second'`)
  await send(BLACK)
  t.equal(await counting(), undefined)
})

t.test('A missing file of a baseline is not replaced until the newest picture is accepted', async t => {
  const { send, counting, baseline, objects, projectId, monitorId, db, nats } = await start(t)
  const first = await send(WHITE)
  await send(BLACK)
  await send(BLACK)
  await objects.remove(`${projectId}/${monitorId}/${first}.png`)
  const newest = await send(WHITE)
  t.equal(await baseline(), first)
  t.equal(await counting(), 1, 'the last difference counts until it expires')
  t.same(await acceptBaseline({ db, nats }, monitorId), ['us-east'])
  t.equal(await baseline(), newest)
  t.equal(await counting(), undefined)
  await send(WHITE)
  t.equal(await counting(), 0)
})

t.test('Accepting does not use a picture of earlier settings or one that was deleted', async t => {
  const { send, counting, baseline, change, db, nats, monitorId } = await start(t)
  const accept = () => acceptBaseline({ db, nats }, monitorId)
  await send(WHITE)
  await send(BLACK)
  await change(`headers = '\\x00', config_version = 2`)
  t.same(await accept(), [], 'the next picture becomes the baseline')
  t.equal(await baseline(), undefined)
  const next = await send(WHITE, { configVersion: 2 })
  t.equal(await baseline(), next)
  await send(BLACK, { configVersion: 2 })
  await send(BLACK, { configVersion: 2 })
  await execute(db, 'UPDATE screenshot_baselines SET compared_id = NULL')
  t.same(await accept(), [])
  t.equal(await counting(), undefined)
  const last = await send(BLACK, { configVersion: 2 })
  t.equal(await baseline(), last)
})

t.test('A full store drops screenshots, and the recorder continues', async t => {
  const context = await startScreenshotStore(t, { replicas: 1, maxBytes: 1024 * 1024 })
  const { objects, nats, monitorId, metrics } = context
  const fill = async (i: number) => await objects.put(`${i}`, Buffer.alloc(64 * 1024), 'image/png')
  await t.rejects(
    (async () => {
      for (let i = 0; ; i++) await fill(i)
    })(),
    { message: 'the bucket is full' },
  )
  const recorder = startScreenshotRecorder(context)
  t.teardown(() => recorder.stop())
  const image = Buffer.concat([Buffer.from('ffd8ff', 'hex'), Buffer.alloc(100 * 1024)])
  const send = async (at: number) => {
    const failure = buildComparison(monitorId, WHITE, at, { kind: ScreenshotKind.FAILURE })
    const shot = Screenshot.encode({ ...failure, contentType: 'image/jpeg', image }).finish()
    await nats.js.publish(screenshotSubject('us-east'), shot)
  }
  const isCounted = async (sample: string) =>
    (await metrics.render()).text.includes(`picket_screenshots_total{${sample}`)
  await send(1_000)
  await send(2_000)
  await waitFor(() => isCounted('outcome="full"} 2'), { label: 'both to be dropped' })
  for (const key of ['0', '1', '2']) await objects.remove(key)
  await send(3_000)
  await waitFor(() => isCounted('outcome="kept"} 1'), { label: 'one to be stored' })
})

t.test('An upgrade keeps the differences of current addresses for an hour', async t => {
  const { send, counting, change, db, url } = await start(t)
  await send(WHITE)
  await send(BLACK)
  await send(BLACK)
  const downgrade = async () => {
    await execute(db, `DELETE FROM knex_migrations WHERE name = '0069-screenshot-settings'`)
    await execute(db, 'DROP TRIGGER monitors_screenshots_since ON monitors')
    await execute(db, 'DROP FUNCTION note_screenshots_since')
    await execute(db, 'ALTER TABLE monitors DROP COLUMN screenshots_since')
    await execute(
      db,
      `ALTER TABLE screenshot_baselines DROP COLUMN config_version, DROP COLUMN compared_at, DROP COLUMN expires_at,
         DROP COLUMN is_confirmed`,
    )
  }
  await downgrade()
  await migratePostgres(url)
  t.equal(await counting(), 1)
  await downgrade()
  await change(`url = 'https://other.example', config_version = 2`)
  await migratePostgres(url)
  t.equal(await counting(), undefined)
})
