import t, { type Test } from 'tap'
import type { Execute } from '../../../control-plane/dashboard/core/operations.ts'
import { FormMessages } from '../../../control-plane/dashboard/parts/forms/form-messages.tsx'
import { BulkCreate } from '../../../control-plane/dashboard/screens/setup/monitors/bulk-create.tsx'
import { TypeField } from '../../../control-plane/dashboard/screens/setup/monitors/fields/type-field.tsx'
import { SettingsForm } from '../../../control-plane/dashboard/screens/setup/monitors/settings-form.tsx'
import {
  EMPTY_FORM,
  type MonitorForm,
  type MonitorRecord,
} from '../../../control-plane/dashboard/screens/setup/monitors/state/monitor-form.ts'
import { applyProposals } from '../../../control-plane/dashboard/screens/setup/monitors/state/proposals.ts'
import { ADMIN, VIEWER } from '../../support/dashboard-fixtures.ts'
import { findElement, fire } from '../../support/elements.ts'
import { STORED_MONITOR } from '../../support/form-records.ts'
import { runHook } from '../../support/run-hook.ts'
import type { Teardown } from '../../support/teardown.ts'

const REPEATED = [
  { name: 'X-A', value: '1' },
  { name: 'x-a', value: '2' },
]

/** An API whose only monitor is `stored`. `sent`: the bodies of its changes. */
function serve(stored: MonitorRecord) {
  const sent: object[] = []
  const execute = (async (name: string, { body }: { body: { monitors?: object[] } }) => {
    if (name === 'readMonitor') return { data: { data: stored } }
    sent.push(body)
    if (name === 'createMonitors')
      return { data: { monitors: body.monitors!.map((_, i) => ({ id: String(i) })), errors: [] } }
    return { data: { data: { ...stored, ...body, updated_at: '2026-11-22T10:00:00.000Z' } } }
  }) as Execute
  return { sent, execute }
}

/** Creates two monitors with these settings. Returns the sentences of the form, and how many calls were sent. */
async function createSeveral(t: Test, part: Partial<MonitorForm>) {
  const { sent, execute } = serve(STORED_MONITOR)
  const lines = ['https://a.example', 'https://b.example']
  const form = applyProposals({ ...EMPTY_FORM, ...part }, null)
  const bulk = runHook(t, {
    hook: BulkCreate,
    props: { lines, form, regions: null, change: () => {}, onCancel: () => {} },
    frame: { me: ADMIN, isInteractive: true, execute },
  })
  await fire(findElement(bulk.current, 'form'), 'onSubmit')
  t.equal(findElement(bulk.current, TypeField).props.withHeartbeat, false, 'a heartbeat has no address')
  const readError = () => findElement(bulk.current, FormMessages).props.error as { message: string } | null
  await bulk.waitUntil(() => sent.length > 0 || readError() !== null, 'the answer')
  return { message: readError()?.message, calls: sent.length }
}

/** The settings of a stored monitor as a person sees them. `read`: the parts of what is shown. */
function openSettings(t: Teardown, stored: MonitorRecord, me = ADMIN) {
  const { sent, execute } = serve(stored)
  const opened = runHook(t, {
    hook: ({ monitor }: { monitor: MonitorRecord }) => SettingsForm({ monitor, regions: null }),
    props: { monitor: stored },
    frame: { me, isInteractive: true, execute },
  })
  type Shown = {
    form: MonitorForm
    isSaved: boolean
    hasChanges: boolean
    isForeign: boolean
    attempt: { error: { message: string } | null; isBusy: boolean }
    change(part: Partial<MonitorForm>): void
    onSave(): Promise<void>
  }
  const read = () => opened.current.props as unknown as Shown
  /** Changes the form and saves it. Returns the sentence of the form; undefined: it is saved. */
  const save = async (part: Partial<MonitorForm>) => {
    read().change(part)
    await opened.waitUntil(() => read().hasChanges, 'a change')
    const { error } = read().attempt
    await read().onSave()
    await opened.waitUntil(() => read().isSaved || read().attempt.error !== error, 'the answer')
    return read().attempt.error?.message
  }
  return { sent, read, save, update: opened.update, waitUntil: opened.waitUntil }
}

t.test('Several monitors are not created with settings with which they would not be checked', async t => {
  t.same(await createSeveral(t, { type: 'keyword' }), {
    message: 'keyword is required to check a keyword monitor',
    calls: 0,
  })
  t.same(await createSeveral(t, { headers: REPEATED }), { message: 'the header "x-a" is listed twice', calls: 0 })
  t.same(await createSeveral(t, {}), { message: undefined, calls: 1 }, 'the addresses come from the lines')
})

t.test('A monitor does not lose what it needs to be checked when its settings are saved', async t => {
  const { sent, save } = openSettings(t, STORED_MONITOR)
  t.equal(await save({ url: ' ' }), 'url is required to check an http monitor')
  t.equal(
    await save({ url: STORED_MONITOR.url!, type: 'keyword' }),
    'keyword is required to check a keyword monitor',
    'a type that needs more',
  )
  t.equal(await save({ type: 'http', headers: REPEATED }), 'the header "x-a" is listed twice')
  t.same(sent, [], 'nothing is sent')
})

t.test('Settings of a monitor without an address can be saved, and those of a monitor of a data source', async t => {
  const without = openSettings(t, { ...STORED_MONITOR, url: null })
  t.equal(await without.save({ interval_seconds: '30' }), undefined)
  t.same(without.sent, [{ interval_seconds: 30 }])
  const source = { id: 'd', name: 'Vendor', field_id: null, key: 'k' }
  const child = openSettings(t, { ...STORED_MONITOR, type: 'keyword', data_source: source })
  t.equal(await child.save({ name: 'Payments' }), undefined)
  t.same(child.sent, [{ name: 'Payments' }])
})

t.test('Settings in which nothing was changed follow what another person stores, for viewers too', async t => {
  const theirs = { ...STORED_MONITOR, interval_seconds: 300, updated_at: '2026-11-21T10:00:00.000Z' }
  for (const me of [ADMIN, VIEWER]) {
    const { read, update, waitUntil } = openSettings(t, STORED_MONITOR, me)
    update({ monitor: theirs })
    await waitUntil(() => read().form.interval_seconds === '300', 'the interval of the other person')
    t.notOk(read().hasChanges)
    t.notOk(read().isForeign, 'there is nothing to compare')
  }
  const { read, update, waitUntil } = openSettings(t, STORED_MONITOR)
  read().change({ interval_seconds: '30' })
  await waitUntil(() => read().hasChanges, 'a change')
  update({ monitor: theirs })
  await waitUntil(() => read().isForeign, 'the question')
  t.equal(read().form.interval_seconds, '30', 'what was typed stays')
})

t.test('After a save the form shows what was saved, although the page has not read it again yet', async t => {
  const { read, save, update } = openSettings(t, STORED_MONITOR)
  t.equal(await save({ interval_seconds: '30' }), undefined)
  update({ monitor: { ...STORED_MONITOR } })
  t.match(read(), { isSaved: true, hasChanges: false, form: { interval_seconds: '30' } })
})

t.test('Settings and credentials are saved for the version that was read; a change in between is compared', async t => {
  const calls: string[] = []
  let stored: MonitorRecord = STORED_MONITOR
  let version = 1
  let interfere: (() => void) | null = null
  type Sent = { body?: object; headers?: Record<string, string> }
  const execute = (async (name: string, { body, headers }: Sent) => {
    calls.push(`${name} ${headers?.['If-Match'] ?? ''}`.trim())
    // as behind a proxy that compresses answers
    if (name === 'readMonitor') return { data: { data: stored }, etag: `W/"${version}"` }
    interfere?.()
    interfere = null
    if (headers?.['If-Match'] !== `"${version}"`)
      return { error: { status: 412, code: 'precondition_failed', message: 'changed' } }
    stored = { ...stored, ...body, updated_at: `2026-11-22T10:00:0${++version}.000Z` }
    return { data: { data: stored }, etag: `"${version}"` }
  }) as Execute
  const opened = runHook(t, {
    hook: ({ monitor }: { monitor: MonitorRecord }) => SettingsForm({ monitor, regions: null }),
    props: { monitor: stored },
    frame: { me: ADMIN, isInteractive: true, execute },
  })
  type Shown = {
    onSave(): Promise<void>
    change(part: Partial<MonitorForm>): void
    isSaved: boolean
    hasChanges: boolean
  }
  const read = () => opened.current.props as unknown as Shown
  const type = async (part: Partial<MonitorForm>) => {
    read().change(part)
    await opened.waitUntil(() => read().hasChanges, 'a change')
  }
  await type({ interval_seconds: '30', auth_type: '' })
  await read().onSave()
  await opened.waitUntil(() => read().isSaved, 'saved')
  t.same(calls.splice(0), ['readMonitor', 'updateMonitor "1"', 'updateMonitorAuth "2"'])

  await type({ name: 'Mine' })
  interfere = () => {
    stored = { ...stored, is_paused: true }
    version++
  }
  await read().onSave()
  await opened.waitUntil(() => read().isSaved, 'saved')
  t.same(
    calls.splice(0),
    ['readMonitor', 'updateMonitor "3"', 'readMonitor', 'updateMonitor "4"'],
    'the form does not show a pause',
  )

  await type({ name: 'Mine again' })
  interfere = () => {
    stored = { ...stored, name: 'Theirs' }
    version++
  }
  await read().onSave()
  await opened.waitUntil(() => 'differences' in opened.current.props, 'the difference')
  t.match(opened.current.props, {
    differences: [{ field: 'name', theirs: 'Theirs', mine: 'Mine again', isConflict: true }],
  })
  t.equal(stored.name, 'Theirs', 'nothing is overwritten')
})

t.test('A monitor that is always changed in between is not saved, and the form does not try for ever', async t => {
  const calls: string[] = []
  const monitor: MonitorRecord = STORED_MONITOR
  const execute = (async (name: string) => {
    calls.push(name)
    if (name === 'readMonitor') return { data: { data: monitor }, etag: '"1"' }
    return { error: { status: 412, code: 'precondition_failed', message: 'changed' } }
  }) as Execute
  const opened = runHook(t, {
    hook: (props: { monitor: MonitorRecord }) => SettingsForm({ ...props, regions: null }),
    props: { monitor },
    frame: { me: ADMIN, isInteractive: true, execute },
  })
  type Shown = { onSave(): Promise<void>; change(part: Partial<MonitorForm>): void; hasChanges: boolean }
  const read = () => opened.current.props as unknown as Shown
  read().change({ name: 'Mine' })
  await opened.waitUntil(() => read().hasChanges, 'a change')
  await read().onSave()
  t.same(calls, ['readMonitor', 'updateMonitor', 'readMonitor', 'updateMonitor', 'readMonitor', 'updateMonitor'])
  t.ok(read().hasChanges, 'what was typed stays')
})
