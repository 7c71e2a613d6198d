import { SaxesParser } from 'saxes'
import t from 'tap'
import { buildBadge } from '../../../control-plane/pages/public/embeds/badge.ts'
import { renderBadge } from '../../../control-plane/pages/public/embeds/badge-svg.ts'
import { measureText } from '../../../control-plane/pages/public/embeds/text-width.ts'
import { componentView, HOSTILE_TEXTS, hostileView, pageView } from '../../support/page-view.ts'

const SHOP = '0190a0a0-0000-7000-8000-0000000000c1'
const API = '0190a0a0-0000-7000-8000-0000000000c2'
const WEBHOOKS = '0190a0a0-0000-7000-8000-0000000000c3'
const formatBadge = (query: Parameters<typeof buildBadge>[1], view = pageView()) => {
  const { label, message } = buildBadge(view, query)
  return `${label}: ${message}`
}

t.test('A badge shows the status of the page or of one component', async t => {
  t.equal(formatBadge({}), 'status: partial outage')
  t.equal(formatBadge({ component: SHOP }), 'Shop: operational')
  t.equal(formatBadge({ component: API, label: 'Our API' }), 'Our API: outage')
  t.equal(formatBadge({ type: 'uptime', component: API }), 'API uptime: 98.50%')
  t.equal(formatBadge({ type: 'uptime' }), 'uptime: 99.24%')
  t.equal(formatBadge({ type: 'response_time', component: SHOP }), 'Shop response time: 128 ms')
})

t.test('Uptime is never rounded up', async t => {
  const rows: [number, string][] = [
    [100, '100%'],
    [99.999, '99.99%'],
    [99.9, '99.90%'],
    [66.67, '66.67%'],
    [0, '0.00%'],
  ]
  for (const [uptimePercent, shown] of rows) {
    const view = pageView({ sections: [{ kind: 'component', component: componentView({ uptimePercent }) }] })
    t.equal(buildBadge(view, { type: 'uptime' }).message, shown)
  }
})

t.test('A badge shows "unknown" for hidden figures, unknown components and unknown types', async t => {
  const unknown = { message: 'unknown', colour: '#475467' }
  const hidden = pageView({ showResponseTimes: false, showUptimePercentage: false })
  t.match(buildBadge(hidden, { type: 'response_time', component: SHOP }), unknown, 'switched off on the page')
  t.match(buildBadge(hidden, { type: 'uptime', component: SHOP }), unknown, 'switched off on the page')
  t.match(buildBadge(pageView(), { type: 'response_time', component: API }), unknown, 'private')
  t.match(buildBadge(pageView(), { type: 'uptime', component: WEBHOOKS }), unknown, 'without known time')
  t.match(buildBadge(pageView(), { component: '0190a0a0-0000-7000-8000-0000000000ff' }), unknown, 'of another page')
  const stale = pageView({ staleSince: '2026-11-01T12:00:00.000Z' })
  t.match(buildBadge(stale, {}), unknown, 'a page that could not be updated')
  t.match(buildBadge(stale, { component: SHOP }), unknown, 'and its components')
  const days = [120, 130, null, null].map((medianMs, i) => ({ date: `2026-10-0${i + 1}`, medianMs }))
  const component = componentView({ responseTimes: days })
  const old = pageView({ sections: [{ kind: 'component', component }] })
  t.match(buildBadge(old, { type: 'response_time' }), unknown, 'figures before yesterday')
  t.match(buildBadge(pageView(), { component: "'; DROP" }), unknown, 'not an id')
  for (const type of ['', 'latency', '__proto__', 'constructor', 'toString'])
    t.match(buildBadge(pageView(), { type }), unknown)
})

t.test('A badge is as wide as its texts', async t => {
  t.equal(Math.round(measureText('operational', 11)), 62)
  t.equal(measureText('状態', 11), 22)
  const svg = renderBadge({ label: 'status', message: 'operational', colour: '#067647', style: 'flat' })
  const [left = 0, right = 0] = [...svg.matchAll(/textLength="(\d+)"/g)].map(match => Number(match[1]))
  t.match(svg, new RegExp(`^<svg [^>]*width="${left + right + 24}" height="20"`))
  t.notMatch(renderBadge({ label: '', message: 'up', colour: '#067647', style: 'flat-square' }), /textLength="0"|: up/)
})

t.test('A badge has a title and stays well-formed with hostile texts', async t => {
  for (const text of HOSTILE_TEXTS) {
    const svg = renderBadge(buildBadge(hostileView(text), { component: SHOP, label: text, style: text }))
    const elements = new Set<string>()
    const parser = new SaxesParser({ xmlns: true })
    parser.on('error', error => {
      throw error
    })
    parser.on('opentag', tag => {
      elements.add(tag.name)
      t.notMatch(Object.keys(tag.attributes).join(), /\bon|href/)
    })
    parser.write(svg).close()
    t.same([...elements].sort(), ['clipPath', 'g', 'rect', 'svg', 'text', 'title'])
  }
})
