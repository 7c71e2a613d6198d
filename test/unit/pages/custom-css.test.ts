import t from 'tap'
import { sanitizeCss } from '../../../control-plane/pages/core/custom-css/css-sanitizer.ts'

const SCOPED: [string, string][] = [
  ['.component{color:red}', '.page .component{color:red}'],
  ['h2, .name > b{margin:0}', '.page h2,.page .name>b{margin:0}'],
  ['body{background:#000}', '.page{background:#000}'],
  [':root{--brand:red}', '.page{--brand:red}'],
  ['.page{padding:0}', '.page{padding:0}'],
  ['html > body.dark .x{color:red}', '.page.dark .x{color:red}'],
  ['body::before{content:""}', '.page::before{content:""}'],
  ['*{color:red}', '.page *{color:red}'],
  ['::selection{color:red}', '.page ::selection{color:red}'],
  ['body ~ .x{color:red}', '.page body~.x{color:red}'],
  [':is(html, body) .x{color:red}', '.page :is(html,body) .x{color:red}'],
  ['@media (width<600px){.x{color:red}}', '@media (width<600px){.page .x{color:red}}'],
  ['@supports (gap:1px){@media print{.x{gap:1px}}}', '@supports (gap:1px){@media print{.page .x{gap:1px}}}'],
  ['@keyframes k{from{opacity:0}50%{opacity:1}}', '@keyframes k{from{opacity:0}50%{opacity:1}}'],
  ['.x{color:red;&:hover{color:blue}}', '.page .x{color:red;&:hover{color:blue}}'],
  ['/* note */.x{color:red}<!-- -->', '.page .x{color:red}'],
  [
    '.x::after{content:"</style><script>alert(1)</script>"}',
    '.page .x::after{content:"<\\/style><script>alert(1)<\\/script>"}',
  ],
  [
    '.x{width:calc(1px + (2px*3));color:var(--ink, red)!important}',
    '.page .x{width:calc(1px + (2px*3));color:var(--ink,red)!important}',
  ],
  ['.x{--p:fixed;background-position:var(--p)}', '.page .x{--p:fixed;background-position:var(--p)}'],
  ['.x{position:sticky!important;top:var(--top)}', '.page .x{position:sticky!important;top:var(--top)}'],
  ['', ''],
]

t.test('Custom CSS applies below the root of the page', async t => {
  for (const [source, css] of SCOPED) t.same(sanitizeCss(source), { css }, source)
})

t.test('Sanitized CSS stays the same when it is sanitized again', async t => {
  const stable = SCOPED.filter(([source]) => !source.startsWith('body ~'))
  for (const [, css] of stable) t.same(sanitizeCss(css), { css }, css)
})

const url = 'https://evil.example/x'
const REFUSED: [string, RegExp][] = [
  [`@import "${url}";`, /must not use @import.*line 1/],
  [`\n\n@\\69mport url(${url});`, /must not use @import.*line 3/],
  [`@IMPORT '${url}'`, /@import/],
  [`@font-face{font-family:x;src:url(${url})}`, /@font-face/],
  [`@namespace x url(${url});`, /@namespace/],
  ['@charset "utf-8";', /@charset/],
  [`@document url(${url}){a{color:red}}`, /@document/],
  ['@layer page{.page{contain:none!important}}', /@layer/],
  ['@page{margin:0}', /@page/],
  ['@property --x{syntax:"*";inherits:false}', /@property/],
  [`.x{background:url(${url})}`, /url\(\) is not allowed \(line 1\)/],
  [`.x{background:URL("${url}")}`, /url\(\)/],
  ['.x{background:url(/own.png)}', /url\(\)/],
  ['.x{background:url(data:image/svg+xml;base64,PHN2Zz4=)}', /url\(\)/],
  [`.x{background:\\75\\72\\6c("${url}")}`, /url\(\)/],
  [`.x{background:\\000075rl("${url}")}`, /url\(\)/],
  [`.x{background:u\\72l(${url})}`, /is not valid CSS/],
  [`.x{background:ur/**/l(${url})}`, /is not valid CSS|not allowed/],
  [`.x{background:image-set("${url}" 1x)}`, /image-set\(\)/],
  [`.x{background:-webkit-image-set("${url}" 1x)}`, /-webkit-image-set\(\)/],
  [`.x{background:src("${url}")}`, /src\(\)/],
  [`.x{background:image("${url}")}`, /image\(\)/],
  [`.x{background:cross-fade("${url}", red)}`, /cross-fade\(\)/],
  [`.x{--u:url(${url})}`, /url\(\)/],
  [`.x{--u:src("${url}")}`, /src\(\)/],
  [`@supports (background:url(${url})){.x{color:red}}`, /url\(\)/],
  ['.x{width:expression(alert(1))}', /expression\(\)/],
  ['.x{width:e\\78pression(alert(1))}', /expression\(\)|not valid/],
  ['.x{behavior:none}', /behavior/],
  ['.x{-moz-binding:none}', /-moz-binding/],
  ['.x{position:fixed}', /position: fixed/],
  ['.x{p\\6fsition:FI\\58 ED}', /position: fixed/],
  ['.x{--p:fixed;position:var(--p)}', /must not use var\(\) in position, because it can become fixed.*line 1/],
  ['.x{position:var(--p, absolute)}', /var\(\) in position/],
  ['.x{POSITION:VAR(--p)!important}', /var\(\) in position/],
  ['.x{p\\6fsition:v\\61 r(--p)}', /var\(\) in position/],
  ['.x{position:\\000076ar(--p)}', /var\(\) in position/],
  ['.x{position/**/:/**/var(/**/--p)/**/}', /var\(\) in position/],
  ['.x{position:va/**/r(--p)}', /in position|is not valid CSS/],
  ['.x{position:/**/fi\\78 ed/**/}', /position: fixed/],
  ['.x{position:env(--p)}', /env\(\) in position/],
  ['.x{position:attr(data-p type(*))}', /attr\(\) in position/],
  ['.x{position:if(else:static)}', /if\(\) in position|is not valid CSS/],
  ['.x{position:first-valid(absolute)}', /first-valid\(\) in position/],
  ['.x{&:hover{position:var(--p)}}', /var\(\) in position/],
  ['@keyframes k{to{position:var(--p)}}', /var\(\) in position/],
  ['& .x{color:red}', /only inside a rule/],
  ['.x{&:not(&){color:red}}', /& inside a pseudo-class/],
  ['.x{color:red', /^$/],
  ['}.x{color:red}', /is not valid CSS.*line 1, column 1/],
  ['.x{color}', /is not valid CSS: Colon is expected/],
  ['.x,,.y{color:red}', /is not valid CSS/],
  ['('.repeat(50_000), /must not nest more than 32 levels/],
  ['a{&b{'.repeat(10_000), /must not nest more than 32 levels/],
]

t.test('CSS that loads, runs, covers the page or is invalid is refused, with its line', async t => {
  for (const [source, problem] of REFUSED) {
    const made = sanitizeCss(source)
    if (problem.source === '^$') t.ok('css' in made, 'an unclosed rule ends with the text')
    else t.match('problem' in made ? made.problem : `accepted ${made.css}`, problem, source.slice(0, 80))
  }
})

t.test('Each refused line is named once, in the order of the lines', t => {
  const refused = sanitizeCss('.a{position:fixed;background:url(x)}\n.b{color:}\n@page{margin:0}')
  t.match(refused, {
    problems: [
      { line: 1, message: /position: fixed/ },
      { line: 3, message: /@page/ },
    ],
  })
  t.end()
})
