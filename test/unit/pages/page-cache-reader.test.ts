import t from 'tap'
import type { LoadedPage } from '../../../control-plane/pages/core/types.ts'
import { createPageCache } from '../../../control-plane/pages/public/page-cache-reader.ts'
import { pageView } from '../../support/page-view.ts'

const SITE = { slug: 'acme' }

function loaded(name: string, sizeBytes = 1_000): LoadedPage {
  const images = { logo: null, favicon: null }
  return { view: pageView({ name }), fingerprint: name, loadedMs: 0, medians: null, images, sizeBytes }
}

/** A cache over a source that can be changed, held and broken. */
function scene(maxBytes?: number) {
  const counted: string[] = []
  const world = {
    page: loaded('Acme') as LoadedPage | null,
    isAway: false,
    held: null as Promise<void> | null,
    reads: 0,
    nowMs: Date.UTC(2026, 7, 1),
    /** how far the wall clock was set back */
    setBackMs: 0,
  }
  const find = createPageCache({
    async read(site, known) {
      world.reads++
      await world.held
      if (world.isAway) throw new Error('away')
      if ('slug' in site && site.slug.startsWith('other')) return loaded(site.slug)
      return known && world.page && known.fingerprint === world.page.fingerprint ? known : world.page
    },
    count: outcome => counted.push(outcome),
    monotonicMs: () => world.nowMs,
    nowMs: () => world.nowMs - world.setBackMs,
    ...(maxBytes && { maxBytes }),
  })
  /** Sends a visitor after `ms`, and returns the page that later visitors get when the read has ended. */
  const findAfter = async (ms: number) => {
    world.nowMs += ms
    await find(SITE)
    await new Promise(resolve => setImmediate(resolve))
    return find(SITE)
  }
  return { world, find, findAfter, counted }
}

t.test('Concurrent visitors cause one read, and none while the page is fresh', async t => {
  const { world, find, counted } = scene()
  const shown = await Promise.all(Array.from({ length: 50 }, () => find(SITE)))
  t.ok(shown.every(one => one === shown[0]))
  await find(SITE)
  t.equal(world.reads, 1)
  t.same(counted, ['loaded', 'fresh'])
})

t.test('The next read detects a change, and an unchanged page keeps its documents', async t => {
  const { world, find, findAfter } = scene()
  let made = 0
  const document = () => {
    made++
    return { contentType: 'text/plain', body: 'x' }
  }
  ;(await find(SITE))!.document('a', document)
  ;(await findAfter(500))!.document('a', document)
  t.same([world.reads, made], [2, 1])
  world.page = loaded('Acme Cloud')
  t.equal((await find(SITE))?.view.name, 'Acme')
  t.equal((await findAfter(500))?.view.name, 'Acme Cloud')
})

t.test('A page that is no longer public is removed, and its absence is not cached', async t => {
  const { world, find, findAfter } = scene()
  await find(SITE)
  const { page } = world
  world.page = null
  t.equal(await findAfter(500), null)
  world.page = page
  t.ok(await find(SITE))
})

t.test('While reads fail, the last page is served with the time of its data', async t => {
  const { world, find, counted } = scene()
  await find(SITE)
  const beforeMs = world.nowMs
  world.isAway = true
  world.nowMs += 1_000
  const { view } = (await find(SITE))!
  t.equal(view.name, 'Acme')
  t.equal(Date.parse(view.staleSince!), beforeMs)
  t.ok(counted.includes('stale'))
  const { reads } = world
  for (let i = 0; i < 100; i++) await find(SITE)
  t.equal(world.reads, reads, 'a failed read is not repeated by every visitor')
  world.isAway = false
  world.nowMs += 1_000
  t.equal((await find(SITE))?.view.staleSince, undefined)
})

t.test('The first visitor waits a second for a slow engine, later ones do not wait', async t => {
  const { world, find } = scene()
  await find(SITE)
  let release = () => {}
  world.held = new Promise(resolve => {
    release = resolve
  })
  world.nowMs += 1_000
  t.ok((await find(SITE))?.view.staleSince, 'the first visitor waits a second')
  world.nowMs += 1_000
  const reads = world.reads
  await Promise.all(Array.from({ length: 100 }, () => find(SITE)))
  t.equal(world.reads, reads)
  release()
  await new Promise(resolve => setImmediate(resolve))
  t.equal((await find(SITE))?.view.staleSince, undefined)
})

t.test('A wall clock that is set back does not keep a page or a failure', async t => {
  const { world, find, findAfter } = scene()
  await find(SITE)
  world.setBackMs = 3_600_000
  world.page = loaded('Acme Cloud')
  t.ok(find.fresh(SITE), 'still fresh')
  world.nowMs += 500
  t.equal(find.fresh(SITE), null)
  t.equal((await findAfter(500))?.view.name, 'Acme Cloud')

  const beforeMs = world.nowMs - world.setBackMs
  world.isAway = true
  world.nowMs += 1_000
  t.equal(Date.parse((await find(SITE))!.view.staleSince!), beforeMs, 'the time of the wall clock is shown')
  world.setBackMs *= 2
  world.isAway = false
  world.nowMs += 1_000
  t.equal((await find(SITE))?.view.staleSince, undefined)
})

t.test('A page that was never read fails with the error', async t => {
  const { world, find } = scene()
  world.isAway = true
  await t.rejects(find(SITE), /away/)
  world.isAway = false
  t.ok(await find(SITE), 'and is not cached')
})

t.test('The cache is bounded, and the page that was read longest ago is removed', async t => {
  const { world, find } = scene(2_500)
  for (const slug of ['other-1', 'other-2', 'other-3']) await find({ slug })
  await find({ slug: 'other-3' })
  t.equal(world.reads, 3)
  await find({ slug: 'other-1' })
  t.equal(world.reads, 4)
})
