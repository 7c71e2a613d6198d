import t from 'tap'
import { toPublicChange } from '../../../control-plane/alerting/events/page-event.ts'
import { createSigner } from '../../../control-plane/foundation/platform/crypto/signer.ts'
import {
  isOneClickUnsubscribe,
  parseComponentChoice,
  parseForm,
} from '../../../control-plane/pages/public/subscriptions/subscription-form.ts'
import {
  renderManagePage,
  renderSubscribePage,
} from '../../../control-plane/pages/public/subscriptions/subscription-pages.tsx'
import { hashAddress, parseAddress } from '../../../control-plane/pages/subscribers/address.ts'
import {
  buildRecipientFilter,
  pickNextBatch,
  toPageChanges,
} from '../../../control-plane/pages/subscribers/notice-batching.ts'
import type { IncidentNotice } from '../../../control-plane/pages/subscribers/notice-store.ts'
import { SAMPLES } from '../../support/channel-events.ts'
import { HOSTILE_TEXTS, hostileView, pageView } from '../../support/page-view.ts'

const NOW = new Date('2026-08-01T12:00:00Z')
const LATER = new Date('2026-08-01T12:00:10Z')

/** `author` null: an automatic update. */
function notice(seq: number, author: string | null, dueAt = NOW, incident = 'i1'): IncidentNotice {
  const { update, ...data } = SAMPLES['incident.updated']
  return {
    seq,
    dueAt,
    pageEventId: null,
    lastSubscriberId: null,
    name: 'incident.updated',
    data: { ...data, incident: { ...data.incident, id: incident }, update: update && { ...update, author_id: author } },
    occurredAt: NOW,
  }
}

const RUNS: [string, IncidentNotice[], number[]][] = [
  ['one', [notice(1, null)], [1]],
  ['a few', [1, 2, 3].map(seq => notice(seq, null)), [1]],
  ['many together', [1, 2, 3, 4].map(seq => notice(seq, null)), [1, 2, 3, 4]],
  [
    'a change by a person ends a series',
    [...[1, 2, 3, 4].map(seq => notice(seq, null)), notice(5, 'ann'), notice(6, null)],
    [1, 2, 3, 4],
  ],
  ['a change by a person comes first', [notice(1, 'ann'), ...[2, 3, 4, 5].map(seq => notice(seq, null))], [1]],
  [
    'a notice that is not due yet is left out',
    [...[1, 2, 3].map(seq => notice(seq, null)), notice(4, null, LATER)],
    [1],
  ],
]
t.test('Many automatic changes become one message, and changes by people stay separate', async t => {
  for (const [title, notices, expected] of RUNS) {
    t.same(
      pickNextBatch(notices, NOW).map(({ seq }) => seq),
      expected,
      title,
    )
  }
})

t.test('A page notifies the subscribers of the affected components', async t => {
  const shop = { id: 'c1', name: 'Shop' }
  const touched = [
    { incidentId: 'i1', isWhole: false, components: [shop], cause: null },
    { incidentId: 'i2', isWhole: false, components: [], cause: null },
    { incidentId: 'i3', isWhole: true, components: [], cause: null },
  ]
  const changes = toPageChanges(
    ['i1', 'i2', 'i3', 'gone'].map((id, i) => notice(i, 'ann', NOW, id)),
    touched,
  )
  t.same(
    changes.map(change => 'incident' in change && change.incident.id),
    ['i1', 'i3'],
  )
  t.same(buildRecipientFilter(changes), { componentIds: ['c1'], isWhole: true })
  t.same(buildRecipientFilter(changes.slice(0, 1)), { componentIds: ['c1'], isWhole: false })
})

t.test('Internal updates and acknowledgements are never public, but resolutions are', async t => {
  const update = SAMPLES['incident.updated'].update!
  const internal = { ...SAMPLES['incident.resolved'], update: { ...update, is_internal: true } }
  const change = (name: string) => toPublicChange({ name, occurredAt: NOW, data: internal }, [])
  t.equal(change('incident.updated'), null)
  t.equal(change('incident.acknowledged'), null)
  t.equal(change('monitor.down'), null)
  t.match(change('incident.resolved'), { event: 'incident.resolved', update: null })
})

const MAILS: [string, boolean][] = [
  ['ann@example.com', true],
  [' Ann.O+x@EXAMPLE.co.uk ', true],
  ['ann@localhost', false],
  ['ann@example.com, ben@example.com', false],
  ['Ann <ann@example.com>', false],
  ['ann@example.com\nBcc: ben@example.com', false],
  [`${'a'.repeat(65)}@example.com`, false],
  ['', false],
]
t.test('One plain address is accepted, and case does not matter', async t => {
  const read = (email: string) => parseAddress({ email, webhook: '' }, () => null)
  for (const [email, isGood] of MAILS) t.equal('address' in read(email), isGood, JSON.stringify(email))
  const sign = createSigner(Buffer.alloc(32), 'test')
  const hashes = ['Ann@Example.com', 'ann@example.COM'].map(email => {
    const found = read(email)
    return 'address' in found ? hashAddress(found.address, sign).toString('hex') : ''
  })
  t.equal(hashes[0], hashes[1])
  t.match(
    parseAddress({ email: '', webhook: 'http://10.0.0.1/' }, () => 'it is private'),
    { problem: /it is private/ },
  )
  t.match(
    parseAddress({ email: '', webhook: 'https://u:p@example.com/' }, () => null),
    { problem: /credentials/ },
  )
})

t.test('Only components of the page can be chosen', async t => {
  const [shop] = pageView().sections
  const id = shop?.kind === 'component' ? shop.component.id : ''
  const choose = (body: string) => parseComponentChoice(pageView(), parseForm(body).chosen)
  t.same(choose('email=a'), { componentIds: null })
  t.same(choose(`scope=all&component=${id}`), { componentIds: null })
  t.same(choose(`scope=some&component=${id}&component=nonsense&component=${id}`), { componentIds: [id] })
  t.match(choose('scope=some&component=nonsense'), { problem: /at least one/ })
})

t.test('Both encodings of a one-click request are recognized', async t => {
  t.ok(isOneClickUnsubscribe('List-Unsubscribe=One-Click'))
  t.ok(
    isOneClickUnsubscribe('--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--'),
  )
  t.notOk(isOneClickUnsubscribe('action=save'))
})

t.test('A form that comes back with a problem says so in its title and at the field, not in its heading', async t => {
  const problem = 'the email address is not valid'
  const rows = [
    { email: 'ann', webhook: '', field: /<input type="email"[^>]*>/ },
    { email: '', webhook: 'ftp://x', field: /<input type="url"[^>]*>/ },
  ]
  for (const { field, ...form } of rows) {
    const { html } = renderSubscribePage(pageView(), { ...form, chosen: null }, problem)
    t.match(html, /<title>Error: Subscribe to /)
    t.match(html, /<h1 dir="auto">Subscribe to /)
    t.match(html, `<p id="problem" class="problem" role="alert">${problem}</p>`)
    t.match(field.exec(html)?.[0], /aria-describedby="problem"/)
    t.equal(html.match(/ autofocus/g)?.length, 1, 'one field has the focus')
  }
  t.notMatch(renderSubscribePage(pageView()).html, /Error: |aria-describedby="problem"| autofocus/)
  t.match(renderManagePage(pageView(), { chosen: [], notice: null, problem }).html, /<title>Error: Your subscription/)
})

t.test('Hostile texts stay text in the form', async t => {
  const parseTags = (html: string) => [...html.matchAll(/<[a-z/][^>\s]*/gi)].map(([tag]) => tag)
  const expectedTags = parseTags(renderSubscribePage(pageView()).html)
  for (const text of HOSTILE_TEXTS) {
    t.same(
      parseTags(renderSubscribePage(hostileView(text), { email: text, webhook: '', chosen: null }).html),
      expectedTags,
      text,
    )
  }
})
