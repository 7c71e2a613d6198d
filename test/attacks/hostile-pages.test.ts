import t from 'tap'
import { TEMPLATE_NAMES } from '../../control-plane/pages/core/types.ts'
import { STATUSPAGE_FILES } from '../../control-plane/pages/public/feeds/statuspage.ts'
import { startApi } from '../support/api-server.ts'
import { forEachRow } from '../support/for-each-row.ts'
import { createHostilePage, type HostilePage } from '../support/hostile-scene.ts'
import { HOSTILE_TEXTS, isUnstorable } from '../support/hostile-texts.ts'
import { openHtmlParser } from '../support/html-parser.ts'
import { parseNames, parseTexts } from '../support/xml-names.ts'

// Every hostile text in every public document: each is parsed by a real parser and compared with the same document of
// harmless texts.

const limits = { RATE_LIMIT_PER_MINUTE: '1000000', RATE_LIMIT_PER_PROJECT: '1000000' }
const publicOrigin = 'http://picket.test'
const api = await startApi(t, { ...limits, TRUST_PAGE: 'on', PUBLIC_URL: publicOrigin })
const { key } = await api.tenant('business')
const browser = await openHtmlParser(t)

const PLAIN = 'Plain words'
const encoded = encodeURIComponent

/** Documents of a page by their parser. The text is also in the requested address. */
const DOCUMENTS: Record<'html' | 'xml' | 'json', (scene: HostilePage, text: string) => string[]> = {
  html: (_, text) => ['', '/embed', '/subscribe', `/subscription/confirm?id=${text}&until=${text}&token=${text}`],
  xml: ({ componentId }, text) => [
    ...['/feed.rss', '/feed.atom', `/badge.svg?label=${text}`, `/badge.svg?component=${componentId}`],
    ...[`/badge.svg?component=${text}`, `/badge.svg?type=${text}&style=${text}`],
  ],
  json: () => Object.keys(STATUSPAGE_FILES).map(name => `/api/v2/${name}`),
}

type Got = { status: number; headers: string[]; text: string }

async function get(path: string): Promise<Got> {
  const answer = await fetch(`${api.origin}${path}`, { redirect: 'manual', headers: { accept: 'text/html,*/*' } })
  const own = [...answer.headers.keys()].filter(name => !['x-service-stale-since', 'age'].includes(name))
  return { status: answer.status, headers: own, text: await answer.text() }
}

const buildPath = ({ slug }: HostilePage, path: string) => `/status/${slug}${path}`
/** Values that differ between pages: ids, times, colours of days. */
const notNew = (seen: Iterable<string>, known: Iterable<string>) => {
  const set = new Set(known)
  return [...new Set(seen)].filter(one => !set.has(one))
}

/** Pages with harmless texts, one per template: every page may contain what they contain. */
const plainScenes: HostilePage[] = []
for (const _ of TEMPLATE_NAMES) plainScenes.push(await createHostilePage(api, key, PLAIN))
const scenes = new Map<string, HostilePage>()
for (const [what, text] of Object.entries(HOSTILE_TEXTS)) {
  if (!isUnstorable(text)) scenes.set(what, await createHostilePage(api, key, text))
}

/** The text as a reader sees it in a document; null when documents do not show it unchanged. */
const isPlainEnough = (text: string) => /^[\x20-\x7e]+$/.test(text) && !/ {2}|^ | $/.test(text)

const isOwnLink = (link: string) => /^(#|\/(?![/\\])|data:image\/svg\+xml[;,]|\?)/.test(link)

const isPublic = (link: string) => URL.canParse(link) && new URL(link).origin === publicOrigin

t.test('Nearly every field accepts the hostile texts', t => {
  for (const [what, { taken }] of scenes) t.ok(taken.length >= 7, `${what}: ${taken.length}`)
  t.equal(scenes.get('an element')?.taken.length, 18)
  t.end()
})

t.test('In HTML no text becomes an element, an attribute, a link or a script', async t => {
  const known = { elements: new Set<string>(), code: new Set<string>(), headers: new Set<string>() }
  for (const scene of plainScenes) {
    for (const path of DOCUMENTS.html(scene, PLAIN)) {
      const { text, headers } = await get(buildPath(scene, path))
      const parsed = await browser.parse(text)
      for (const one of parsed.elements) known.elements.add(one)
      for (const one of parsed.code) known.code.add(one)
      for (const one of headers) known.headers.add(one)
    }
  }
  for (const [what, scene] of scenes) {
    const text = HOSTILE_TEXTS[what]!
    for (const path of DOCUMENTS.html(scene, encoded(text))) {
      const got = await get(buildPath(scene, path))
      const parsed = await browser.parse(got.text)
      const name = `${path.split('?')[0]} with ${what}`
      t.same(notNew(parsed.elements, known.elements), [], `${name}: elements`)
      t.same(notNew(parsed.code, known.code), [], `${name}: scripts and styles`)
      t.same(notNew(got.headers, known.headers), [], `${name}: headers`)
      const foreign = parsed.links.filter(link => !isOwnLink(link) && !isPublic(link))
      t.same(foreign, [], `${name}: links`)
      if (path === '' && isPlainEnough(text)) t.ok(parsed.text.includes(text), `${name}: the text is visible`)
    }
  }
})

t.test('Feeds and badges stay well-formed, and no text becomes an element or an attribute', async t => {
  const known = { elements: new Set<string>(), attributes: new Set<string>() }
  for (const scene of plainScenes) {
    for (const path of DOCUMENTS.xml(scene, encoded(PLAIN))) {
      const names = parseNames((await get(buildPath(scene, path))).text)
      for (const one of names.elements) known.elements.add(one)
      for (const one of names.attributes) known.attributes.add(one)
    }
  }
  for (const [what, scene] of scenes) {
    const text = HOSTILE_TEXTS[what]!
    for (const path of DOCUMENTS.xml(scene, encoded(text))) {
      const got = await get(buildPath(scene, path))
      t.equal(got.status, 200, path)
      const names = parseNames(got.text)
      t.same(notNew(names.elements, known.elements), [], `${path} with ${what}`)
      t.same(notNew(names.attributes, known.attributes), [], `${path} with ${what}`)
    }
  }
})

t.test('The HTML in a feed contains only paragraphs', async t => {
  for (const [what, scene] of scenes) {
    for (const path of ['/feed.rss', '/feed.atom']) {
      const { text } = await get(buildPath(scene, path))
      // the first description in RSS is that of the feed, and plain text
      const [, ...ofEntries] = [...parseTexts(text, 'description', 'subtitle', 'content')]
      t.ok(ofEntries.length >= 2, path)
      const { elements, links } = await browser.parse(ofEntries.join(''))
      t.same(notNew(elements, ['html', 'head', 'body', 'p', 'strong', 'small', 'br']), [], `${path} with ${what}`)
      t.same(links, [], `${path} with ${what}`)
    }
  }
})

t.test('Programs get each text unchanged', async t => {
  for (const [what, scene] of scenes) {
    for (const path of DOCUMENTS.json(scene, '')) {
      const { text, status } = await get(buildPath(scene, path))
      t.equal(status, 200)
      t.ok(JSON.parse(text), `${path} with ${what}`)
    }
    const { incidents } = JSON.parse((await get(buildPath(scene, '/api/v2/incidents.json'))).text)
    const messages = incidents.flatMap((one: { incident_updates: { body: string }[] }) => one.incident_updates)
    t.ok(
      messages.some(({ body }: { body: string }) => body === HOSTILE_TEXTS[what]),
      `${what} is a message of an incident`,
    )
  }
})

t.test('The 404 page and the sign-in forms repeat no text as markup', async t => {
  const known = new Set<string>()
  const asked = (text: string): string[] => [
    ...[`/status/${text}`, `/sign-in?return_to=${text}`, `/claim/${text}`, `/reset/${text}`, `/trust?x=${text}`],
    ...[`/incidents/${text}`, `/monitors/${text}`, `/${text}`, `/status/x?${text}`],
  ]
  for (const path of asked(PLAIN.replace(' ', '-'))) {
    for (const one of (await browser.parse((await get(path)).text)).elements) known.add(one)
  }
  await forEachRow(Object.entries(HOSTILE_TEXTS), 1, async ([what, text]) => {
    if (isUnstorable(text)) return
    for (const path of asked(encoded(text))) {
      const got = await get(path)
      t.ok(got.status < 500, `${path}: ${got.status}`)
      const isPage = !got.text.startsWith('{')
      if (isPage) t.same(notNew((await browser.parse(got.text)).elements, known), [], `${path} with ${what}`)
    }
  })
})
