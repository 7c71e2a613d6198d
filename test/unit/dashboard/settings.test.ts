import { h } from 'preact'
import t from 'tap'
import { getStepMs } from '../../../control-plane/dashboard/browser/following.ts'
import {
  buildRecordPath,
  formatValue,
  parseAuditFilter,
  toAuditQuery,
} from '../../../control-plane/dashboard/screens/settings/audit/audit-words.ts'
import { describeDeleted } from '../../../control-plane/dashboard/screens/settings/chat/installation-row.tsx'
import {
  describeProbe,
  listProbeProblems,
} from '../../../control-plane/dashboard/screens/settings/fleet/probe-words.ts'
import { KeysThatStay } from '../../../control-plane/dashboard/screens/settings/members/member-row.tsx'
import { renderHtml } from '../../../control-plane/foundation/web/html/render.ts'
import { ADMIN, VIEWER } from '../../support/dashboard-fixtures.ts'
import { FULL } from '../../support/dashboard-scenes.ts'
import { renderScreen, toText } from '../../support/dashboard-screens.tsx'
import { SETTINGS_ANSWERS } from '../../support/settings-answers.ts'

const show = (address: string, me = ADMIN) => renderScreen(address, { ...FULL, me })

t.test(
  'Where a role does not allow something, the page says which role is needed, and has no buttons for it',
  async t => {
    for (const [address, sentence] of [
      ['/settings/members', 'Seeing, inviting and removing members needs the role admin. Your role is viewer.'],
      ['/settings/keys', 'Seeing, creating and deleting API keys needs the role admin. Your role is viewer.'],
      ['/settings/audit', 'The audit log needs the role admin. Your role is viewer.'],
      ['/settings/chat', 'Connecting and disconnecting needs the role editor. Your role is viewer.'],
      ['/settings/wall', 'Creating and revoking links needs the role editor. Your role is viewer.'],
    ] as const) {
      const { html } = show(address, VIEWER)
      t.match(toText(html), sentence, address)
      const main = html.slice(html.indexOf('<main'), html.indexOf('</main>'))
      t.notMatch(main, '<button', address)
      t.notMatch(toText(show(address).html), 'needs the role', `${address} for an admin`)
    }
  },
)

t.test('The organization shows what of its plan is in use, and which limit is reached', async t => {
  const text = toText(show('/settings').html)
  t.match(text, /The plan is free/)
  t.match(text, /Monitors 37 50/)
  t.match(text, /Status pages 1 \(full\) 1/)
  t.match(text, /Open incidents 2 no limit/)
})

t.test('Members and keys show their state', async t => {
  const members = toText(show('/settings/members').html)
  t.match(members, /eve@example\.com .*Invited: no password is set yet\./)
  t.match(members, /bob@example\.com .*Suspended/)
  const keys = toText(show('/settings/keys').html)
  t.match(keys, /Deployment svc_4fQ…x9Zt , scope write, created .* by ann@example\.com/)
  t.match(keys, /never used/)
})

t.test(
  'The audit log is filtered by the address, days include their end, and what is not a day is left out',
  async t => {
    const parse = (text: string) => parseAuditFilter(new URLSearchParams(text))
    t.same(parse('action=created&resource=monitor&from=2026-11-01&to=2026-11-02&page=3'), {
      ...{ action: 'created', resource: 'monitor', from: '2026-11-01', to: '2026-11-02' },
    })
    t.same(parse('action=nothing&from=yesterday&to=2026-13-45'), {})
    t.same(toAuditQuery({ actor_id: 'a', from: '2026-11-01', to: '2026-11-02' }), {
      ...{ actor_id: 'a', from: '2026-11-01T00:00:00Z', to: '2026-11-03T00:00:00.000Z' },
    })
  },
)

t.test('Values of the audit log are readable', async t => {
  for (const [value, text] of [
    [null, 'not set'],
    [true, 'yes'],
    [30, '30'],
    [['us-east', 'eu-west'], 'us-east, eu-west'],
    [[], 'none'],
    [{ a: 1 }, '{\n  "a": 1\n}'],
  ] as const)
    t.equal(formatValue(value), text)
  const entry = { action: 'updated', resource: 'monitor', resource_id: 'm1' } as const
  t.equal(buildRecordPath(entry), '/monitors/m1')
  t.equal(buildRecordPath({ ...entry, action: 'deleted' }), null)
  t.match(toText(show('/settings/audit').html), /timeout_ms 10000 20000/)
})

t.test('Only the operator sees probes, with what is wrong with each and the command that ends a drain', async t => {
  t.notMatch(toText(show('/fleet').html), /iad-1/)
  const text = toText(show('/fleet', { ...ADMIN, is_operator: true }).html)
  t.match(text, /fra-2 eu-west drained: disagrees often its clock is 4 s ahead/)
  t.match(text, /120 results, 40 kB/)
  t.match(text, /npm run admin -- probe undrain p2/)
  t.match(text, /Create the command/)
  const viewer = toText(show('/fleet', { ...ADMIN, is_operator: true, scope: 'read' }).html)
  t.match(viewer, /Adding a probe needs the role admin/)
  t.notMatch(viewer, /Create the command/)
  const [live, drained, gone] = SETTINGS_ANSWERS.listProbes!.data
  t.same(
    [live, drained, gone].map(probe => describeProbe(probe!)),
    ['live', 'drained: disagrees often', 'not connected'],
  )
  t.same(listProbeProblems({ ...live!, connectivity_ok: false }), ['its connectivity test fails'])
})

t.test('A state that is about to change is read again soon, then every five seconds', async t => {
  t.same([0, 1, 2, 3, 4, 5, 100].map(getStepMs), [500, 1_000, 1_500, 2_500, 5_000, 5_000, 5_000])
})

t.test('The forms name what stays and what is deleted as far as it is known', async t => {
  const show = (names: string[] | null, areAll: boolean) => {
    const keys = names?.map(name => ({ id: name, name })) as Parameters<typeof KeysThatStay>[0]['keys'] | undefined
    return toText(renderHtml(h(KeysThatStay, { keys: keys ?? null, areAll })))
  }
  t.match(show([], true), 'This person created no API key.')
  for (const names of [[], null]) t.match(show(names, false), 'API keys that this person created keep working.')
  t.match(show(['CI'], true), /keep working until you delete them : CI \.$/)
  t.match(show(['CI'], false), /CI , and possibly others: not all keys are listed here\./)
  t.notMatch(describeDeleted(null, false), /more channels than were read/)
  t.match(describeDeleted([], false), /more channels than were read; of those, 0 channels will be deleted\./)
})
