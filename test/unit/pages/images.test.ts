import t from 'tap'
import { parseImage } from '../../../control-plane/pages/core/images/image-format.ts'
import { sanitizeSvg } from '../../../control-plane/pages/core/images/svg-sanitizer.ts'

const NS = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
const svg = (inner: string, attributes = '') => `<svg ${NS}${attributes}>${inner}</svg>`
const cleaned = (text: string) => {
  const safe = sanitizeSvg(text)
  return 'svg' in safe ? safe.svg : safe.problem
}

t.test('A drawing is not changed', async t => {
  const drawings = [
    '<g fill="#fff" transform="scale(2)"><path d="M0 0h10v10z"></path><circle cx="5" cy="5" r="2"></circle></g>',
    '<defs><linearGradient id="a"><stop offset="0" stop-color="red"></stop></linearGradient></defs><rect fill="url(#a)"></rect>',
    '<use href="#a"></use><use xlink:href="#b"></use>',
    '<style>.cls-1{fill:#2563eb;clip-path:url(#c)}</style><text class="cls-1" xml:space="preserve">Käse &amp; Wein</text>',
    '<image href="data:image/png;base64,iVBORw0KGgo="></image>',
  ]
  for (const drawing of drawings)
    t.equal(cleaned(svg(drawing, ' viewBox="0 0 10 10"')), svg(drawing, ' viewBox="0 0 10 10"'))
  t.equal(cleaned(`<?xml version="1.0"?><!DOCTYPE svg><!-- made by hand -->\n${svg('<g/>')}`), svg('<g></g>'))
  t.equal(cleaned(`<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:g/></s:svg>`), svg('<g></g>'), 'with any prefix')
})

t.test('The work of a hostile drawing grows with its size only', async t => {
  const before = process.cpuUsage()
  const spaces = '\n'.repeat(900_000)
  t.equal(cleaned(svg(`<style>url(${spaces}</style>`)), svg('<style></style>'))
  t.equal(cleaned(svg(`<style>url( "${spaces}#a")</style>`)), svg(`<style>url( &quot;${spaces}#a&quot;)</style>`))
  t.equal(cleaned(svg(`<g fill="url(${'&#10;'.repeat(180_000)}"/>`)), svg('<g></g>'))
  const attributes = Array.from({ length: 501 }, (_, i) => ` a${i}=""`).join('')
  t.match(cleaned(svg(`<g${attributes}/>`)), /more than 500 attributes/)
  t.match(cleaned(svg(`<g${attributes.replaceAll(/ (a\d+)=""/g, ' xmlns:$1="u"')}/>`)), /more than 500 attributes/)
  // each of these took minutes
  const { user, system } = process.cpuUsage(before)
  t.ok(user + system < 30_000_000)
})

t.test('Everything that runs, links, loads or moves is removed', async t => {
  const attacks: [string, string][] = [
    ['<script>alert(1)</script>', ''],
    ['<script href="https://evil.example/x.js"/>', ''],
    ['<g onload="alert(1)" ONCLICK="alert(2)"/>', '<g></g>'],
    ['<a href="javascript:alert(1)"><text>x</text></a>', ''],
    [
      '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="alert(1)"/></body></foreignObject>',
      '',
    ],
    ['<html:script xmlns:html="http://www.w3.org/1999/xhtml">alert(1)</html:script>', ''],
    ['<image href="https://evil.example/x.png"/>', '<image></image>'],
    ['<image xlink:href="//evil.example/x.png"/>', '<image></image>'],
    ['<image href="data:image/svg+xml;base64,PHN2Zy8+"/>', '<image></image>'],
    ['<use href="https://evil.example/x.svg#a"/>', '<use></use>'],
    ['<use x:href="#a" xmlns:x="http://www.w3.org/1999/xlink"/>', '<use></use>'],
    ['<rect fill="url(https://evil.example/#a)"/>', '<rect></rect>'],
    ['<rect style="fill: url( \'//evil.example/#a\')"/>', '<rect></rect>'],
    ['<rect style="fill: u\\72l(//evil.example/#a)"/>', '<rect></rect>'],
    ['<style>@import "https://evil.example/x.css";</style>', '<style></style>'],
    ['<style><![CDATA[a{background:url(https://evil.example/)}]]></style>', '<style></style>'],
    ['<style><g/>@import url(https://evil.example/a.css);</style>', '<style></style>'],
    ['<style>a{}<g>b{}</g>c{}</style>', '<style>a{}c{}</style>'],
    ['<style>a{}</style><style>b{}</style>', '<style>a{}</style><style>b{}</style>'],
    ['<animate attributeName="href" to="javascript:alert(1)"/><set attributeName="onclick" to="x"/>', ''],
    ['<iframe src="https://evil.example"/><embed src="x"/><object data="x"/>', ''],
    ['<?xml-stylesheet href="https://evil.example/x.css"?><g/>', '<g></g>'],
    ['<![CDATA[<script>alert(1)</script>]]>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['<title>&lt;/title&gt;&lt;script&gt;</title>', '<title>&lt;/title&gt;&lt;script&gt;</title>'],
    ['<g xml:base="https://evil.example/"><use href="#a"/></g>', '<g><use href="#a"></use></g>'],
  ]
  for (const [attack, left] of attacks) t.equal(cleaned(svg(attack)), svg(left), attack)
})

t.test('An invalid SVG is refused with a reason', async t => {
  const rows: [string, RegExp][] = [
    ['<html xmlns="http://www.w3.org/1999/xhtml"/>', /root element is not svg/],
    ['<svg/>', /root element is not svg/],
    [svg('<g>'), /not a valid SVG: /],
    [svg('&evil;'), /not a valid SVG: /],
    [`<!DOCTYPE svg [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>${svg('&c;')}`, /not a valid SVG: /],
    [svg('<g>'.repeat(200) + '</g>'.repeat(200)), /too many elements/],
    [svg('<g/>'.repeat(30_000)), /too many elements/],
    ['<', /not a valid SVG: /],
  ]
  for (const [text, expected] of rows) t.match(cleaned(text), expected, text.slice(0, 60))
})

t.test('The type of an image is detected from its bytes', async t => {
  const rows: [string, Buffer, string | RegExp][] = [
    ['PNG', Buffer.from('89504e470d0a1a0a0000', 'hex'), 'image/png'],
    ['JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), 'image/jpeg'],
    ['WebP', Buffer.from('524946460000000057454250', 'hex'), 'image/webp'],
    ['a sound in the same wrapping', Buffer.from('524946460000000057415645', 'hex'), /not a PNG/],
    ['SVG', Buffer.from(`\ufeff${svg('<g/>')}`), 'image/svg+xml'],
    ['GIF', Buffer.from('GIF89a'), /not a PNG, JPEG, WebP or SVG/],
    ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>'), /not a valid SVG/],
    ['nothing', Buffer.alloc(0), /empty/],
    ['too much', Buffer.alloc(1024 * 1024 + 1, 0x89), /larger than 1 MiB/],
    ['half a character', Buffer.from('3c737667c3', 'hex'), /not a PNG/],
  ]
  for (const [what, bytes, expected] of rows) {
    const image = parseImage(bytes)
    if (typeof expected === 'string') t.match(image, { contentType: expected }, what)
    else t.match((image as { problem: string }).problem, expected, what)
  }
})
