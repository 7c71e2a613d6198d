import { fastify } from 'fastify'
import t from 'tap'
import { createPublicLookup } from '../../control-plane/foundation/web/limits/public-lookup.ts'
import type { App } from '../../control-plane/foundation/web/server/app.ts'
import { feedRoutes } from '../../control-plane/pages/public/feed-routes.ts'
import { createPageCache } from '../../control-plane/pages/public/page-cache-reader.ts'
import { addCustomHostConstraint } from '../../control-plane/pages/public/site-routes.ts'
import { pageView } from '../support/page-view.ts'

const SLUG = 'acme'
const PAGE = { contentType: 'text/html; charset=utf-8', body: '<p>All is well</p>' }

/** The public documents of one unchanged page. */
function site() {
  const view = pageView({ name: 'Acme' })
  const images = { logo: null, favicon: null }
  const page = { view, fingerprint: 'a', loadedMs: 0, medians: null, images, sizeBytes: 1_000 }
  const find = createPageCache({ read: async () => page, count: () => {}, monotonicMs: () => 0 })
  const app = fastify() as unknown as App
  const lookUp = createPublicLookup({ what: 'status pages', missesPerMinute: 1 })
  const pages = { find, parseCustomHost: () => null, lookUp }
  addCustomHostConstraint(app, pages)
  feedRoutes(app, pages)
  const get = (path: string) => app.inject({ method: 'GET', url: `/status/${SLUG}${path}` })
  /** How often the page is rendered during the given number of requests. */
  const timesMade = async (visits: number) => {
    const shown = (await find({ slug: SLUG }))!
    let made = 0
    for (let i = 0; i < visits; i++) shown.document('', () => ({ ...PAGE, body: `${PAGE.body}${++made}` }))
    return made
  }
  return { find, get, timesMade }
}

t.test('Many badges do not evict the page or its documents from the cache', async t => {
  const { find, get, timesMade } = site()
  const crowd = await Promise.all(Array.from({ length: 300 }, (_, n) => get(`/badge.svg?label=label-${n}`)))
  t.ok(crowd.every(({ statusCode }) => statusCode === 200))
  t.ok(crowd.every(({ body }, n) => body.includes(`label-${n}`)))
  const themes = await Promise.all(Array.from({ length: 100 }, (_, n) => get(`/embed?theme=theme-${n}`)))
  t.ok(themes.every(({ statusCode, body }) => statusCode === 200 && body === themes[0]!.body))
  t.equal(await timesMade(20), 1, 'the page is rendered once')
  const shown = (await find({ slug: SLUG }))!
  const documents: (object | null)[] = []
  for (const name of ['/feed.rss?', '/feed.atom?', '/widget.js?']) {
    await get(name.slice(0, -1))
    documents.push(shown.document(name, () => null))
  }
  t.ok(documents.every(Boolean), 'and the other documents too')
})

t.test('Requested badges are cached, and any number of others needs bounded memory', async t => {
  const { find, get } = site()
  const shown = (await find({ slug: SLUG }))!
  await get('/badge.svg')
  const few = shown.sizeBytes()
  for (let n = 0; n < 200; n++) {
    await get(`/badge.svg?label=label-${n}`)
    await get('/badge.svg')
  }
  const sizes = shown.sizeBytes()
  t.ok(sizes > few)
  for (let n = 0; n < 200; n++) await get(`/badge.svg?label=other-${n}`)
  t.ok(shown.sizeBytes() < 1.2 * sizes, `${shown.sizeBytes()} bytes, before ${sizes}`)

  const before = shown.sizeBytes()
  const queries = [`label=${'x'.repeat(61)}`, 'style=unknown', 'type=unknown', `component=${'0'.repeat(37)}`]
  for (const query of queries) t.equal((await get(`/badge.svg?${query}`)).statusCode, 200)
  t.equal(shown.sizeBytes(), before, 'unusual badges are not cached')
})
