import { createHash } from 'node:crypto'
import { Script } from 'node:vm'
import t from 'tap'
import { renderEmbedPage } from '../../../control-plane/pages/public/embeds/embed-page.tsx'
import { WIDGET } from '../../../control-plane/pages/templates/assets.ts'
import { HOSTILE_TEXTS, hostileView, pageView } from '../../support/page-view.ts'

t.test('The embedded page shows the overall status and open incidents', async t => {
  const { html } = renderEmbedPage(pageView(), 'auto')
  t.match(html, 'Some systems are out')
  t.match(html, 'https://picket.example.com/status/acme#incident-0190a0a0-0000-7000-8000-0000000000d1')
  t.notMatch(html, 'Mail was late')
})

t.test('An embedded page that could not be updated says so', async t => {
  const stale = /<p class="stale">This page could not be updated\. Its content is from/
  t.notMatch(renderEmbedPage(pageView(), 'auto').html, stale)
  t.match(renderEmbedPage(pageView({ staleSince: '2026-11-01T12:00:00.000Z' }), 'auto').html, stale)
})

t.test('The embedded page allows only its own style and every frame', async t => {
  const { html, csp } = renderEmbedPage(pageView(), 'dark')
  const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(html) ?? []
  t.match(csp, `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`)
  t.match(csp, "default-src 'none'")
  t.match(csp, /script-src 'sha256-[^ ;]+';/)
  t.match(csp, 'frame-ancestors *')
})

t.test('Hostile texts stay text in the embedded page', async t => {
  const parseTags = (html: string) => [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag)
  const expected = parseTags(renderEmbedPage(pageView(), 'auto').html)
  for (const text of HOSTILE_TEXTS) t.same(parseTags(renderEmbedPage(hostileView(text), 'auto').html), expected, text)
})

t.test('The widget is a script of a few kilobytes that writes no HTML', async t => {
  t.ok(new Script(WIDGET))
  t.ok(WIDGET.length < 4_096, `${WIDGET.length} bytes`)
  t.notMatch(WIDGET, /innerHTML|insertAdjacentHTML|document\.write|cookie|localStorage|eval/)
})
