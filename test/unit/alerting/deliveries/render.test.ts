import t from 'tap'
import type { ChannelKind, Digest, RenderContext } from '../../../../control-plane/alerting/channels/types.ts'
import type { QueuedDelivery } from '../../../../control-plane/alerting/deliveries/queue/lane-store.ts'
import { type PrepareTools, prepareAll } from '../../../../control-plane/alerting/deliveries/rendering/prepare.ts'
import {
  type ChannelDelivery,
  createChannelRenderer,
} from '../../../../control-plane/alerting/deliveries/rendering/render.ts'

const NOW = new Date('2026-11-21T12:00:00Z')

/** The arguments of a kind's render function: the digest or the event of the envelope, and the context. */
function captureArguments(head: Partial<Record<keyof ChannelDelivery, unknown>>) {
  const given: { digest?: Digest; event?: string; context?: RenderContext } = {}
  const kind = {
    render: (envelope: { event: string }, _config: object, context: RenderContext) =>
      Object.assign(given, { event: envelope.event, context }),
    renderDigest: (digest: Digest, _config: object, context: RenderContext) =>
      Object.assign(given, { digest, context }),
  } as unknown as ChannelKind
  const whole = { id: 'whd_1', channelType: 'chat_a', reminder: null, createdAt: NOW, ...head } as ChannelDelivery
  createChannelRenderer(whole, kind, 'http://picket.test', NOW)({})
  return given
}

const change = (name: string, status: string, at: string, reminder: number | null = null) => ({
  monitor_id: name,
  name,
  status,
  at: `2026-11-21T11:${at}:00.000Z`,
  url: `http://picket.test/monitors/${name}`,
  reminder,
})

t.test('A digest has one line for each monitor with its changes in order', async t => {
  const changes = [
    change('Shop', 'down', '58'),
    change('Blog', 'down', '57'),
    change('Shop', 'up', '59'),
    change('Mail', 'down', '59', 3),
    ...Array.from({ length: 5 }, (_, i) => change('Flap', i % 2 ? 'up' : 'down', `5${i}`)),
  ]
  const { digest } = captureArguments({ eventName: 'monitor.digest', eventData: { project_name: 'Acme', changes } })
  t.match(digest, {
    deliveryId: 'whd_1',
    projectName: 'Acme',
    from: '2026-11-21T11:50:00.000Z',
    to: '2026-11-21T11:59:00.000Z',
    dashboardUrl: 'http://picket.test/',
  })
  t.same(
    digest?.changes.map(({ name, status, words }) => [name, status, words]),
    [
      ['Shop', 'up', 'down, then up'],
      ['Blog', 'down', 'down'],
      ['Mail', 'down', 'still down (reminder 3)'],
      ['Flap', 'down', 'down after 5 changes'],
    ],
  )
})

t.test('A digest shows a monitor and its incident as one outage', async t => {
  const incident = (name: string, status: string, at: string) => ({
    ...change(name, status, at),
    url: `http://picket.test/incidents/${name}`,
  })
  const changes = [
    change('Shop', 'down', '57'),
    incident('Shop', 'down', '57'),
    incident('Blog', 'down', '57'),
    change('Mail', 'down', '58'),
    incident('Mail', 'down', '58'),
    incident('Mail', 'resolved', '59'),
    change('Shop', 'down', '59', 1),
  ]
  const { digest } = captureArguments({ eventName: 'monitor.digest', eventData: { project_name: 'Acme', changes } })
  t.same(
    digest?.changes.map(({ name, status, words, url }) => [name, status, words, url.slice(19)]),
    [
      ['Shop', 'down', 'down, then still down (reminder 1)', 'monitors/Shop'],
      ['Blog', 'down', 'down', 'incidents/Blog'],
      ['Mail', 'resolved', 'down, then resolved', 'incidents/Mail'],
    ],
  )
})

t.test('A reminder has the duration of the outage, and other events do not', async t => {
  const incident = { started_at: '2026-11-21T09:55:00.000Z' }
  const head = { eventName: 'monitor.down', eventData: { incident } }
  t.same(captureArguments({ ...head, reminder: 3 }).context, {
    publicUrl: 'http://picket.test',
    reminder: { number: 3, downFor: '2 hours 5 minutes' },
  })
  t.same(captureArguments(head), {
    event: 'monitor.down',
    context: { publicUrl: 'http://picket.test', reminder: null },
  })
})

t.test('A notice of which the subscriber follows no component any more is not prepared', async t => {
  const toHead = (id: string, componentIds: string[] | null, components: { id: string }[]) =>
    ({ id, componentIds, eventName: 'page.notice', eventData: { changes: [{ components }] }, createdAt: NOW }) as never
  const heads: QueuedDelivery[] = [
    toHead('other', ['blog'], [{ id: 'shop' }]),
    toHead('chosen', ['shop'], [{ id: 'shop' }]),
    toHead('all', null, [{ id: 'shop' }]),
    toHead('whole page', ['blog'], []),
  ]
  const { unwanted, unrenderable } = await prepareAll(heads, {} as PrepareTools, NOW, async () => {})
  t.match(unwanted, [{ id: 'other', attempt: { error: 'the subscriber no longer follows the affected components' } }])
  t.equal(unwanted.length, 1)
  t.same(
    unrenderable.map(({ id }) => id),
    ['chosen', 'all', 'whole page'],
    'the others are rendered, for which this test has no keys',
  )
})

t.test('Other work runs before each delivery is prepared', async t => {
  const heads = ['a', 'b', 'c'].map(id => ({ id, eventName: 'monitor.down', createdAt: NOW }) as never)
  let turns = 0
  const { unrenderable } = await prepareAll<QueuedDelivery>(heads, {} as PrepareTools, NOW, async () => {
    turns++
  })
  t.same([turns, unrenderable.length], [3, 3])
})
