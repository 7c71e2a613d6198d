import t from 'tap'
import {
  CATALOG,
  findCatalogEntry,
  searchCatalog,
} from '../../../../control-plane/integrations/vendors/dependencies/catalog.ts'
import { CATEGORIES } from '../../../../control-plane/integrations/vendors/dependencies/categories.ts'
import { buildSummaryUrl } from '../../../../control-plane/integrations/vendors/feeds/feed-url.ts'
import { FEED_TYPES } from '../../../../control-plane/integrations/vendors/feeds/index.ts'
import { DEFAULT_MAPPING } from '../../../../control-plane/integrations/vendors/feeds/json.ts'

t.test('The catalog has more than a hundred unique vendors and uses every type of feed', async t => {
  t.ok(CATALOG.length >= 100)
  const keys = ['slug', 'name', 'feedUrl'] as const
  for (const key of keys) t.equal(new Set(CATALOG.map(entry => entry[key])).size, CATALOG.length, key)
  t.same([...new Set(CATALOG.map(({ feedType }) => feedType))].sort(), [...FEED_TYPES].sort())
  t.same(
    CATALOG.map(({ name }) => name),
    CATALOG.map(({ name }) => name).sort((a, b) => a.localeCompare(b, 'en')),
  )
})

t.test('Each entry has a slug, a known category, and https addresses of public hosts', async t => {
  for (const entry of CATALOG) {
    const { slug, name, category, statusUrl, feedType, feedUrl, feedMapping } = entry
    const urls = [statusUrl, feedUrl].map(url => new URL(url))
    const isPublic = ({ protocol, hostname, username }: URL) =>
      protocol === 'https:' && /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}$/.test(hostname) && username === ''
    t.match(slug, /^[a-z0-9]+(-[a-z0-9]+)*$/)
    t.ok(name.length <= 100 && slug.length <= 50 && urls.every(isPublic), slug)
    t.ok((CATEGORIES as readonly string[]).includes(category), `${slug}: ${category}`)
    t.ok(FEED_TYPES.includes(feedType), slug)
    t.same(
      Object.keys(feedMapping).filter(place => !(place in DEFAULT_MAPPING)),
      [],
      slug,
    )
    t.equal(feedType === 'json', Object.keys(feedMapping).length > 0, `${slug}: a mapping where it is JSON`)
    if (feedType === 'statuspage') t.equal(feedUrl, `${statusUrl}/api/v2/summary.json`)
  }
  const used = new Set(CATALOG.map(({ category }) => category))
  t.same(
    CATEGORIES.filter(category => !used.has(category)),
    [],
    'no category without a vendor',
  )
})

t.test('A vendor is found by its slug, by a part of its name and by its category', async t => {
  t.equal(findCatalogEntry('github')?.name, 'GitHub')
  t.equal(findCatalogEntry('unknown'), null)
  t.same(
    searchCatalog({ q: 'gith' }).map(({ slug }) => slug),
    ['github'],
  )
  t.ok(searchCatalog({ category: 'ai' }).every(({ category }) => category === 'ai'))
  t.same(searchCatalog({ category: 'ai', q: 'github' }), [])
})

t.test('The address of a Statuspage summary is derived from any address of the page', async t => {
  const summary = 'https://status.acme.example/api/v2/summary.json'
  for (const address of ['', '/', '//', '/?lang=de', '/#top', '/api/v2/summary.json']) {
    t.equal(buildSummaryUrl(`https://status.acme.example${address}`), summary)
  }
  t.equal(buildSummaryUrl('https://acme.example/status/'), 'https://acme.example/status/api/v2/summary.json')
})
