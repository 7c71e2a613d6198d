import { createHash } from 'node:crypto'
import { h } from 'preact'
import t from 'tap'
import { renderDocument } from '../../../../control-plane/foundation/web/html/document.tsx'

const parts = {
  lang: 'en',
  title: 'A <b> & "c"',
  styles: ['h1{color:red}'],
  scripts: ['let a=1'],
  body: h('body', null, '<i>'),
}
const computeHash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

t.test('Texts are escaped, and the policy allows exactly the inline styles and scripts', async t => {
  const { html, csp } = renderDocument(parts)
  t.match(html, '<title>A &lt;b> &amp; &quot;c&quot;</title>')
  t.match(html, '<body>&lt;i></body>')
  t.match(html, /^<!doctype html><html lang="en"/)
  t.same(csp.split('; '), [
    "default-src 'none'",
    "base-uri 'none'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "img-src 'self'",
    `script-src ${computeHash('let a=1')}`,
    `style-src ${computeHash('h1{color:red}')}`,
  ])
})

t.test('The same page has the same bytes, so that it can be cached', async t => {
  t.same(renderDocument(parts), renderDocument(parts))
})

t.test('No style and no script closes its own element', async t => {
  const styles = ['a::after{content:"</style><script>alert(1)</script>"}', '</STYLE ><!--']
  const { html, csp } = renderDocument({ ...parts, styles, scripts: ['"</script>"'] })
  t.equal(html.match(/<\/style>/gi)?.length, 2)
  t.equal(html.match(/<\/script>/gi)?.length, 1)
  const inside = /<style>(.*?)<\/style>/.exec(html)?.[1] ?? ''
  t.match(csp, computeHash(inside), 'the hash belongs to the inline text')
})

t.test('Without styles and scripts none are allowed; frames only on named sites', async t => {
  const { csp } = renderDocument({ ...parts, styles: [''], scripts: [], frameAncestors: '*' })
  t.match(csp, "script-src 'none'; style-src 'none'")
  t.match(csp, 'frame-ancestors *')
})
