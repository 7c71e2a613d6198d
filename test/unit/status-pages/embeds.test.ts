import { createHash } from 'node:crypto'
import { Script } from 'node:vm'
import t from 'tap'
import { EMBED_POLICY, embedPage } from '../../../control-plane/status-pages/embeds/embed-page.ts'
import { WIDGET_SCRIPT } from '../../../control-plane/status-pages/embeds/widget-script.ts'
import { HOSTILE_TEXTS, hostileView, pageView } from '../../support/page-view.ts'

t.test('the embedded page says how things are, with its open incidents', async t => {
  const html = embedPage(pageView(), 'auto')
  t.match(html, 'Some systems are out')
  t.match(html, 'https://picket.example.com/status/acme#incident-0190a0a0-0000-7000-8000-0000000000d1')
  t.notMatch(html, 'Mail was late')
})

t.test('the embedded page allows its own style and nothing else, in every frame', async t => {
  const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(embedPage(pageView(), 'dark')) ?? []
  t.match(EMBED_POLICY, `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`)
  t.match(EMBED_POLICY, "default-src 'none'")
  t.match(EMBED_POLICY, 'frame-ancestors *')
})

t.test('whatever people write stays text in the embedded page', async t => {
  const tagsOf = (html: string) => [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag)
  const ours = tagsOf(embedPage(pageView(), 'auto'))
  for (const text of HOSTILE_TEXTS) t.same(tagsOf(embedPage(hostileView(text), 'auto')), ours, text)
})

t.test('the widget is a script of a few kilobytes that writes no HTML', async t => {
  t.ok(new Script(WIDGET_SCRIPT))
  t.ok(WIDGET_SCRIPT.length < 4_096, `${WIDGET_SCRIPT.length} bytes`)
  t.notMatch(WIDGET_SCRIPT, /innerHTML|insertAdjacentHTML|document\.write|cookie|localStorage|eval/)
})
