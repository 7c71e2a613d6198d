import { brotliCompressSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { TEMPLATE_NAMES } from '../../../control-plane/pages/core/types.ts'
import { renderPage } from '../../../control-plane/pages/templates/document/render.ts'
import { emptyView, largeView, NOW, ordinaryView } from '../../support/status-page-view.ts'

const MAX_BYTES = 40 * 1024

t.test('A page of 50 components and 90 days stays below 40 kB compressed', async t => {
  for (const template of TEMPLATE_NAMES) {
    const { html } = renderPage(largeView({ template }))
    const sizes = { gzip: gzipSync(html).length, brotli: brotliCompressSync(html).length }
    for (const [name, bytes] of Object.entries(sizes))
      t.ok(bytes <= MAX_BYTES, `${template}: ${bytes} bytes with ${name}`)
  }
})

t.test('Every template shows everything in the view', async t => {
  for (const template of TEMPLATE_NAMES) {
    const { html } = renderPage(ordinaryView({ template, staleSince: NOW }))
    const texts = [
      'Some systems are degraded',
      '<p class="stale">This page could not be updated',
      'Checkout is slow and some payments fail',
      'it is safe to try again',
      'Database upgrade',
      'Nothing is lost.',
      'Carts, payments and receipts',
      'Where requests are answered',
      'Singapore',
      'Phone support',
      'Delayed webhooks',
      'Webhooks arrive up to ten minutes late.',
      'Powered by Picket',
      'http://127.0.0.1/status/northwind/subscribe',
      'http://127.0.0.1/status/northwind/feed.rss',
      'http://127.0.0.1/status/northwind/feed.atom',
      '99.98 %',
    ]
    for (const text of texts) t.ok(html.includes(text), `${template}: ${text}`)
  }
})

t.test('The six templates have different texts', async t => {
  const headings = TEMPLATE_NAMES.map(template => {
    const { html } = renderPage(ordinaryView({ template }))
    return [...html.matchAll(/<h2[^>]*>(.*?)<\/h2>/g)].map(match => match[1]).join('|')
  })
  t.equal(new Set(headings).size, TEMPLATE_NAMES.length)
  const empties = TEMPLATE_NAMES.map(
    template => /class="empty">(.*?)</.exec(renderPage(emptyView({ template })).html)?.[1],
  )
  t.equal(new Set(empties).size, TEMPLATE_NAMES.length)
})

t.test('A hidden figure is nowhere on the page', async t => {
  const hidden = ordinaryView({
    showUptimePercentage: false,
    showResponseTimes: false,
    seoDescription: 'x',
    sections: ordinaryView().sections.flatMap(section =>
      section.kind === 'component'
        ? [{ ...section, component: { ...section.component, uptimePercent: null, responseTimes: null } }]
        : [],
    ),
  })
  for (const template of TEMPLATE_NAMES) {
    const { html } = renderPage({ ...hidden, template })
    const words = html.replace(/<(style|script).*?<\/\1>|<[^>]*>/gs, ' ')
    t.notMatch(words, /\d %|\d ms\b|response|uptime/i, template)
  }
})

t.test('The page has metadata for search engines, link previews and feed readers', async t => {
  const { html } = renderPage(ordinaryView({ seoTitle: 'Is "Northwind" up?', logoUrl: '/status/northwind/logo?v=1' }))
  t.match(html, '<html lang="en"')
  t.match(html, '<title>Is &quot;Northwind&quot; up?</title>')
  t.match(html, '<meta property="og:title" content="Is &quot;Northwind&quot; up?"/>')
  t.match(html, 'og:image" content="http://127.0.0.1/status/northwind/logo?v=1"')
  t.match(html, '<link rel="canonical" href="http://127.0.0.1/status/northwind"/>')
  t.match(html, '<link rel="icon" href="/status/northwind/favicon"/>')
  t.match(renderPage(ordinaryView()).html, '<title>Northwind status</title>')
  t.match(renderPage(ordinaryView({ name: 'Northwind Status' })).html, '<title>Northwind Status</title>')
  t.match(renderPage(ordinaryView({ seoDescription: 'All about us' })).html, '"description" content="All about us"')
})

t.test('A page loads pictures from its own origin only', async t => {
  for (const url of ['https://evil.example/x.png', '//evil.example/x.png', '/\\evil.example/x.png', 'javascript:1']) {
    t.notMatch(renderPage(ordinaryView({ logoUrl: url, faviconUrl: url })).html, 'evil.example', url)
  }
})

t.test('The same view gives the same bytes, also when it is read again within the minute', async t => {
  t.same(renderPage(ordinaryView()), renderPage(ordinaryView({ at: '2026-11-21T14:05:59.000Z' })))
})
