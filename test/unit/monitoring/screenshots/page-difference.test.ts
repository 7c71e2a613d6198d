import { randomFillSync } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { PNG } from 'pngjs'
import t from 'tap'
import { createDifferenceReader } from '../../../../control-plane/monitoring/screenshots/difference/difference-reader.ts'
import {
  computeDifference,
  decodePage,
  ImageError,
} from '../../../../control-plane/monitoring/screenshots/difference/page-difference.ts'
import { HANG_MS } from '../../../support/wait.ts'

const readDifference = createDifferenceReader(HANG_MS)
const picture = (...page: Parameters<typeof encodePage>) => decodePage(encodePage(...page))

/** A page of one colour, with `share` of its lines in another colour. */
function encodePage(share = 0, { width = 40, height = 100, grey = 0 } = {}): Buffer {
  const png = new PNG({ width, height })
  png.data.fill(255)
  for (let i = 0; i < Math.round(height * share) * width; i++) png.data.fill(grey, i * 4, i * 4 + 3)
  return PNG.sync.write(png)
}

t.test('The difference of two pages is the share of pixels that differ', async t => {
  t.equal(computeDifference(picture(), picture()), 0)
  t.equal(computeDifference(picture(), picture(0.25)), 0.25)
  t.equal(computeDifference(picture(0.25), picture(1)), 0.75)
  t.equal(computeDifference(picture(), picture(1, { grey: 250 })), 0, 'an invisible difference')
  t.equal(computeDifference(picture(), picture(0, { height: 101 })), 1, 'of another size')
})

t.test('Data that is not an image of a page is refused before it is decoded', async t => {
  const huge = encodePage()
  huge.writeUInt32BE(60_000, 16)
  huge.writeUInt32BE(60_000, 20)
  const interlaced = encodePage()
  interlaced[28] = 1
  // the checksum of the header
  interlaced.writeUInt32BE(crc32(interlaced.subarray(12, 29)), 29)
  for (const bytes of [huge, interlaced, Buffer.from('PNG'), Buffer.alloc(100), encodePage().subarray(0, 60)]) {
    t.throws(() => decodePage(bytes), { message: /not a (valid )?PNG/ })
  }
})

t.test('A picture of up to 1,280 pixels a side is accepted; probes send 640 × 400', async t => {
  const decodeSize = (width: number, height: number) => {
    const page = picture(0, { width, height })
    return [page.width, page.height]
  }
  for (const [width, height] of [
    [640, 400],
    [1_280, 1],
    [1, 1_280],
  ] as const) {
    t.same(decodeSize(width, height), [width, height])
  }
  for (const [width, height] of [
    [1_281, 1],
    [1, 1_281],
    [2_000, 2_000],
  ] as const) {
    t.throws(() => decodeSize(width, height), { message: /not a PNG/ })
  }
})

t.test('The largest pictures are compared in a thread, while this one does other work', async t => {
  const [before, after] = [0, 1].map(() => {
    const png = new PNG({ width: 1_280, height: 1_280 })
    randomFillSync(png.data)
    return PNG.sync.write(png)
  })
  let [isDone, turns] = [false, 0]
  const comparing = readDifference('project', before!, after!).finally(() => {
    isDone = true
  })
  while (!isDone) {
    turns++
    await new Promise(resolve => setImmediate(resolve))
  }
  t.ok((await comparing)! > 0.5)
  t.ok(turns > 100, `${turns} turns`)
})

t.test(
  'The thread too refuses data that are not an image of a page, and only decodes a page without a baseline',
  async t => {
    t.equal(await readDifference('project', null, encodePage()), null)
    t.equal(await readDifference('project', encodePage(), encodePage(1)), 1)
    for (const [before, after] of [
      [null, Buffer.alloc(100)],
      [encodePage(), encodePage().subarray(0, 60)],
      [Buffer.alloc(100), encodePage()],
    ] as const) {
      await t.rejects(readDifference('project', before, after), {
        constructor: ImageError,
        message: /not a (valid )?PNG/,
      })
    }
  },
)
