import t from 'tap'
import { ADMIN, VIEWER } from '../../support/dashboard-fixtures.ts'
import { FULL } from '../../support/dashboard-scenes.ts'
import { renderScreen, toText } from '../../support/dashboard-screens.tsx'
import { buildPage } from '../../support/page-records.ts'

const OPERATOR = { ...ADMIN, is_operator: true }
const show = (address: string, me = ADMIN) => toText(renderScreen(address, { ...FULL, me }).html)

t.test(
  'The list of status pages has for each its components, template, address and whether visitors see it',
  async t => {
    const { html } = renderScreen('/pages', { ...FULL, me: ADMIN })
    const text = toText(html)
    t.match(text, /Acme Cloud 3 components, template Modern https:\/\/picket\.example\/status\/acme Published/)
    t.match(text, /Internal 3 components, template Modern https:\/\/picket\.example\/status\/acme Not published/)
    t.match(html, /href="\/pages\/new"/)
    t.match(html, /href="\/pages\/[\w-]+" dir="auto">Acme Cloud</)
    t.match(html, /<a[^>]* href="https:\/\/picket\.example\/status\/acme"/, 'visitors can open the published one')
    t.notMatch(renderScreen('/pages', { ...FULL, me: VIEWER }).html, 'href="/pages/new"')
  },
)

t.test('Before a page is published or unpublished, it says what visitors will see', async t => {
  const showPage = (changes: Parameters<typeof buildPage>[0]) =>
    toText(
      renderScreen('/pages/p1', {
        ...FULL,
        me: ADMIN,
        answers: { ...FULL.answers, readStatusPage: { data: buildPage(changes) } },
      }).html,
    )
  const hidden = { is_published: false, component_count: 5 }
  t.match(
    showPage(hidden),
    /Not published\. Visitors of https:\/\/picket\.example\/status\/acme get “not found”\. When it is published, every visitor sees 5 components, 90 days of uptime, incidents and planned maintenance\. Publish /,
  )
  t.match(
    showPage({ ...hidden, show_uptime_percentage: false, component_count: 1 }),
    /every visitor sees 1 component, incidents and planned maintenance\./,
  )
  t.match(showPage({ ...hidden, component_count: 0 }), /every visitor sees its name and no component yet\./)
  t.match(
    showPage({}),
    /Published\. Every visitor of https:\S+ sees this page\. When it is unpublished, visitors get “not found”, feeds and badges stop, and notices that wait are not sent\. Unpublish /,
  )
})

t.test('The page of a vendor has its open incidents with severity, state, begin and components', async t => {
  const { html } = renderScreen('/dependencies/d1', { ...FULL, me: ADMIN })
  t.match(toText(html), /Incidents Actions are delayed Major, identified since .* UTC · Actions/)
  t.match(html, /href="https:\/\/www\.githubstatus\.com\/incidents\/1"/)
  t.match(show('/dependencies'), /Down GitHub Actions 1 incident open 1 min ago/)
})

t.test('Each API key has its scope and last use', async t => {
  const text = show('/settings/keys')
  t.match(text, /Deployment svc_4fQ…x9Zt , scope write, .* used 3 min ago Delete… Deployment/)
  t.match(text, /Old script svc_4fQ…x9Zt , scope read, .* never used Delete… Old script/)
  t.match(text, /Laptop svc_4fQ…x9Zt , scope admin, .* Suspended: .* used 3 min ago Delete… Laptop/)
  t.match(text, /Read: sees everything Write: also changes monitors, alerts and pages Admin: also keys, members/)
})

t.test(
  'The operator sees the monitors of each region, and of each probe load, spool, version and disagreement',
  async t => {
    const regions = FULL.answers!.listRegions!
    const data = regions.data.map(region => ({
      ...region,
      monitors: { assigned: 1_340, unassigned: 7 },
      drained_probes: 1,
    }))
    const answers = { ...FULL.answers, listRegions: { ...regions, data } }
    const text = toText(renderScreen('/fleet', { ...FULL, answers, me: OPERATOR }).html)
    t.match(text, /Region State Live probes Monitors Without a probe Drained/)
    t.match(text, /us-east us-east not used yet 0 1,340 7 1 eu-west eu-west live 1 1,340 7 1 /)
    t.match(text, /Probe State Monitors Checks now In the spool Version Heartbeat/)
    t.match(text, /iad-1 us-east live 340 12 of 1,000 empty 0\.1\.0 just now/)
    t.match(
      text,
      /fra-2 eu-west drained: disagrees often its clock is 4 s ahead .* 120 results, 40 kB 0\.1\.0 just now/,
    )
    t.notMatch(show('/fleet'), /Without a probe|In the spool/, 'others see only which regions are live')
  },
)
