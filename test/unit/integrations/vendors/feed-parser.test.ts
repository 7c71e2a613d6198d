import t from 'tap'
import { createFeedParser } from '../../../../control-plane/integrations/vendors/feed-reading/parse-reader.ts'
import type { FeedDocument } from '../../../../control-plane/integrations/vendors/feed-reading/parsed-feed.ts'
import { type FeedType, parseFeed } from '../../../../control-plane/integrations/vendors/feeds/index.ts'
import { countTurns } from '../../../support/turns-during.ts'
import { HANG_MS } from '../../../support/wait.ts'

const NOW = new Date('2026-11-20T12:00:00.000Z')
const buildDocument = (type: FeedType, text: string): FeedDocument => ({
  ...{ feed: { url: 'https://status.acme.example/feed', type, mapping: {} } },
  ...{ body: Buffer.from(text), headers: null, now: NOW },
})
const rss = (items: string) => `<rss version="2.0"><channel><title>t</title>${items}</channel></rss>`
const OPEN = `<item><title>Errors</title><guid>a</guid><pubDate>${new Date(NOW.getTime() - 3_600_000).toUTCString()}</pubDate></item>`
/** RSS with one incident, which takes long to parse. */
const buildRss = (elements: number) => rss(`${OPEN}${'<a b="1" c="2"/>'.repeat(elements)}`)
const buildSummary = (padding: number) => JSON.stringify({ page: { id: 'x'.repeat(padding) }, incidents: [] })
const LONG = buildRss(120_000)

t.test('Only large documents are parsed in the thread, and XML earlier than JSON', async t => {
  const parse = createFeedParser({ maxWaiting: 1, timeoutMs: HANG_MS })
  const atom = (padding: number) =>
    `<feed xmlns="http://www.w3.org/2005/Atom"><title>${'x'.repeat(padding)}</title></feed>`
  const cases: [FeedType, string, inThread: boolean][] = [
    ['statuspage', buildSummary(30_000), false],
    ['statuspage', buildSummary(40_000), true],
    ['json', buildSummary(30_000), false],
    ['json', buildSummary(40_000), true],
    ['rss', buildRss(900), false],
    ['rss', buildRss(1_100), true],
    ['atom', atom(15_000), false],
    ['atom', atom(17_000), true],
  ]
  for (const [type, text, inThread] of cases) {
    let turns = 0
    const parsed = await parse(buildDocument(type, text), () => `${turns++}`)
    const title = `${type} with ${text.length} characters`
    t.same('report' in parsed && parsed.report, parseFeed(text, buildDocument(type, text).feed, NOW), title)
    t.equal(turns, inThread ? 1 : 0, title)
  }
})

t.test('Parsing a feed of 2 MiB does not block other work', async t => {
  t.ok(LONG.length < 2 * 1_048_576)
  const parse = createFeedParser({ maxWaiting: 1, timeoutMs: HANG_MS })
  const { answer, turns } = await countTurns(() => parse(buildDocument('rss', LONG), () => 'one'))
  t.match(answer, { report: { incidents: [{ title: 'Errors', status: 'investigating' }] } })
  t.ok(turns > 10, `the event loop went round ${turns} times`)
})

t.test('A large document of another type gives the same error as a small one', async t => {
  const parse = createFeedParser({ maxWaiting: 1, timeoutMs: HANG_MS })
  for (const padding of [1_000, 100_000]) {
    t.same(await parse(buildDocument('rss', `<feed>${'<a/>'.repeat(padding / 4)}</feed>`), () => 'one'), {
      ...{ error: 'the feed is Atom, not RSS', isOurFault: false },
    })
  }
})

t.test('A document that takes too long is an error of the feed, and the next one is parsed', async t => {
  const parse = createFeedParser({ maxWaiting: 1, timeoutMs: 1 })
  t.same(await parse(buildDocument('rss', LONG), () => 'one'), {
    ...{ error: 'the feed cannot be parsed: it takes more than 0.001 s', isOurFault: false },
  })
  t.match(await parse(buildDocument('rss', rss(OPEN)), () => 'one'), { report: { incidents: [{ title: 'Errors' }] } })
})

t.test('Documents of one project wait for each other, and one too many is not an error of the feed', async t => {
  const parse = createFeedParser({ maxWaiting: 1, timeoutMs: HANG_MS, waitTimeoutMs: HANG_MS })
  const [first, second, third, other] = await Promise.all(
    ['one', 'one', 'one', 'other'].map(project => parse(buildDocument('rss', LONG), () => project)),
  )
  const report = { report: { incidents: [{ title: 'Errors' }] } }
  t.match(first, report)
  t.match(second, report)
  t.same(third, {
    ...{ error: 'Picket could not parse the feed: too many feeds of the project are waiting', isOurFault: true },
  })
  t.match(other, report)
})
