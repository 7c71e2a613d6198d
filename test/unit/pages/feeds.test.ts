import { parseAtomFeed, parseRssFeed } from 'feedsmith'
import t from 'tap'
import { renderAtom } from '../../../control-plane/pages/public/feeds/atom.ts'
import { renderRss } from '../../../control-plane/pages/public/feeds/rss.ts'
import { HOSTILE_TEXTS, hostileView, incidentView, pageView } from '../../support/page-view.ts'
import { parseNames, parseTexts } from '../../support/xml-names.ts'

const URL = 'https://picket.example.com/status/acme'

t.test('The RSS feed has one item per incident, last changed first', async t => {
  const xml = renderRss(pageView())
  parseNames(xml)
  const feed = parseRssFeed(xml)
  t.match(feed, {
    title: 'Acme',
    link: URL,
    language: 'en',
    lastBuildDate: 'Sat, 01 Aug 2026 12:20:00 GMT',
    atom: { links: [{ href: `${URL}/feed.rss`, rel: 'self', type: 'application/rss+xml' }] },
  })
  t.same(
    feed.items?.map(({ title, link, guid, pubDate }) => ({ title, link, guid, pubDate })),
    [
      {
        title: 'Checkout is slow',
        link: `${URL}#incident-0190a0a0-0000-7000-8000-0000000000d1`,
        guid: { value: 'urn:uuid:0190a0a0-0000-7000-8000-0000000000d1', isPermaLink: false },
        pubDate: 'Sat, 01 Aug 2026 11:58:30 GMT',
      },
      {
        title: 'Mail was late',
        link: `${URL}#incident-0190a0a0-0000-7000-8000-0000000000d0`,
        guid: { value: 'urn:uuid:0190a0a0-0000-7000-8000-0000000000d0', isPermaLink: false },
        pubDate: 'Thu, 30 Jul 2026 08:00:00 GMT',
      },
    ],
  )
  t.equal(
    feed.items?.[0]?.description,
    [
      '<p><strong>Monitoring</strong>, <small>1 Aug 2026, 12:20 UTC</small></p><p>A fix is in place.</p>',
      '<p><strong>Investigating</strong>, <small>1 Aug 2026, 12:00 UTC</small></p><p>We are looking<br/>into it.</p>',
      '<p>Affects Shop</p>',
    ].join(''),
  )
})

t.test('The Atom feed has the same entries with the time of their last change', async t => {
  const xml = renderAtom(pageView())
  parseNames(xml)
  const feed = parseAtomFeed(xml)
  t.match(feed, {
    id: 'urn:uuid:0190a0a0-0000-7000-8000-0000000000a1',
    title: { value: 'Acme' },
    updated: '2026-08-01T12:20:00.000Z',
    links: [
      { href: `${URL}/feed.atom`, rel: 'self' },
      { href: URL, rel: 'alternate' },
    ],
  })
  t.same(
    feed.entries?.map(({ id, published, updated }) => ({ id, published, updated })),
    [
      {
        id: 'urn:uuid:0190a0a0-0000-7000-8000-0000000000d1',
        published: '2026-08-01T11:58:30.000Z',
        updated: '2026-08-01T12:20:00.000Z',
      },
      {
        id: 'urn:uuid:0190a0a0-0000-7000-8000-0000000000d0',
        published: '2026-07-30T08:00:00.000Z',
        updated: '2026-07-30T09:00:00.000Z',
      },
    ],
  )
})

t.test('An entry keeps its id when its incident changes and when the page gets a custom domain', async t => {
  const before = pageView({ openIncidents: [], pastIncidents: [incidentView()] })
  const after = {
    ...before,
    publicUrl: 'https://status.acme.com',
    pastIncidents: [
      incidentView({ title: 'Other', status: 'resolved' as const, resolvedAt: '2026-08-01T13:00:00.000Z' }),
    ],
  }
  const ids = (view: typeof before) => parseAtomFeed(renderAtom(view)).entries?.map(entry => entry.id)
  t.same(ids(after), ids(before))
  t.same(
    parseRssFeed(renderRss(after)).items?.map(item => item.guid?.value),
    ids(before),
  )
})

t.test('Maintenance is in the feeds after its start', async t => {
  const { maintenance } = pageView()
  const running = pageView({ maintenance: maintenance.map(one => ({ ...one, isRunning: true })) })
  t.equal(parseRssFeed(renderRss(pageView())).items?.length, 2)
  const [first] = parseRssFeed(renderRss(running)).items ?? []
  t.match(first, {
    title: 'New database',
    guid: { value: 'urn:uuid:0190a0a0-0000-7000-8000-0000000000f1#2026-08-05T02:00:00.000Z' },
  })
})

t.test('Reading an unchanged page again changes nothing in its feeds', async t => {
  const later = pageView({ at: '2026-08-02T13:00:00.000Z' })
  t.equal(renderRss(later), renderRss(pageView()))
  t.equal(renderAtom(later), renderAtom(pageView()))
})

t.test('Feeds stay well-formed and contain nothing executable with hostile texts', async t => {
  const rss = parseNames(renderRss(pageView()))
  const atom = parseNames(renderAtom(pageView()))
  for (const text of HOSTILE_TEXTS) {
    t.same(parseNames(renderRss(hostileView(text))), rss, text)
    t.same(parseNames(renderAtom(hostileView(text))), atom, text)
    const contents = [
      ...(parseRssFeed(renderRss(hostileView(text))).items ?? []).map(item => item.description ?? ''),
      ...(parseAtomFeed(renderAtom(hostileView(text))).entries ?? []).map(entry =>
        String(entry.content?.value ?? entry.content),
      ),
    ]
    t.ok(contents.length > 0)
    for (const html of contents) {
      const tags = [...html.matchAll(/<([^>\s]*)/g)].map(match => match[1])
      t.same(
        tags.filter(tag => !/^(\/?(p|strong|small)|br\/)$/.test(tag ?? '')),
        [],
        html,
      )
    }
  }
})

t.test('A feed reader shows hostile texts as they were written, without the characters that XML forbids', async t => {
  for (const text of HOSTILE_TEXTS) {
    // an XML parser reads a line break of Windows as one character
    const shown = text.replace(/(?![\r\n])\p{Cc}|\ufffe|\p{Surrogate}/gu, '').replace('\r\n', '\n')
    const [rss, atom] = [renderRss(hostileView(text)), renderAtom(hostileView(text))]
    for (const title of parseTexts(rss, 'title')) t.equal(title, shown)
    for (const title of parseTexts(atom, 'title', 'name')) t.equal(title, shown)
    const [channel, feed] = [parseRssFeed(rss), parseAtomFeed(atom)]
    t.same([channel.title, feed.title?.value, feed.authors?.[0]?.name], [shown, shown, shown])
    t.same(new Set(channel.items?.map(item => item.title)), new Set([shown]))
    t.same(new Set(feed.entries?.map(entry => entry.title?.value)), new Set([shown]))
  }
})

t.test('A blank name or title is "Untitled", because Atom and RSS require a text', async t => {
  for (const text of [' ', '\x07']) {
    const [rss, atom] = [renderRss(hostileView(text)), renderAtom(hostileView(text))]
    t.same(parseNames(rss), parseNames(renderRss(pageView())))
    t.same(parseNames(atom), parseNames(renderAtom(pageView())))
    t.same(new Set([...parseTexts(rss, 'title'), ...parseTexts(atom, 'title', 'name')]), new Set(['Untitled']))
  }
})

t.test(
  'An incident without public updates has the time at which it was resolved, and no time of internal states',
  async t => {
    const shown = (change: Parameters<typeof incidentView>[0]) => {
      const view = pageView({ openIncidents: [incidentView({ updates: [], ...change })], pastIncidents: [] })
      return parseRssFeed(renderRss(view)).items?.[0]?.description
    }
    t.match(
      shown({ status: 'resolved', resolvedAt: '2026-08-01T14:00:00.000Z' }),
      '<strong>Resolved</strong>, <small>1 Aug 2026, 14:00 UTC</small>',
    )
    t.match(shown({ status: 'investigating' }), '<strong>Investigating</strong>, <small>1 Aug 2026, 11:58 UTC</small>')
    t.match(shown({ status: 'identified' }), '<p><strong>Identified</strong></p>')
    t.match(shown({ status: 'monitoring' }), '<p><strong>Monitoring</strong></p>')
  },
)

t.test('Feeds have the 50 entries that changed last, with the 20 newest updates of each', async t => {
  const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString()
  const incidents = Array.from({ length: 120 }, (_, i) =>
    incidentView({
      ...{ id: `case-${i}`, title: `Case ${i}`, startedAt: at(i) },
      updates: Array.from({ length: 30 }, (_, n) => ({
        ...{ id: `update-${n}`, status: 'identified' as const, message: `Step ${30 - n}.`, at: at(i) },
      })),
    }),
  )
  const view = pageView({ openIncidents: incidents.slice(0, 60), pastIncidents: incidents.slice(60), maintenance: [] })
  const [items, entries] = [parseRssFeed(renderRss(view)).items ?? [], parseAtomFeed(renderAtom(view)).entries ?? []]
  const titles = Array.from({ length: 50 }, (_, i) => `Case ${119 - i}`)
  t.same(
    items.map(({ title }) => title),
    titles,
  )
  t.same(
    entries.map(({ title }) => title?.value),
    titles,
  )
  const steps = items[0]?.description?.match(/Step \d+/g)
  t.same(
    steps,
    Array.from({ length: 20 }, (_, i) => `Step ${30 - i}`),
  )
})

t.test('After 200 line breaks of a text, feeds have spaces', async t => {
  const message = Array.from({ length: 10_000 }, (_, i) => i).join('\n')
  const [update] = incidentView().updates
  const view = pageView({ openIncidents: [incidentView({ updates: [{ ...update!, message }] })], pastIncidents: [] })
  const html = parseRssFeed(renderRss(view)).items?.[0]?.description ?? ''
  t.equal(html.split('<br/>').length - 1, 200)
  t.match(html, '198<br/>199<br/>200 201 202')
  t.match(html, '9998 9999</p>')
})
