import { crc32 } from 'node:zlib'
import { PNG } from 'pngjs'
import t from 'tap'
import { computeDifference, decodePage } from '../../../../control-plane/monitoring/screenshots/page-difference.ts'

const picture = (...page: Parameters<typeof bytesOf>) => decodePage(bytesOf(...page))

/** A page of one colour, with `share` of its lines in another colour. */
function bytesOf(share = 0, { width = 40, height = 100, grey = 0 } = {}): Buffer {
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
  const huge = bytesOf()
  huge.writeUInt32BE(60_000, 16)
  huge.writeUInt32BE(60_000, 20)
  const interlaced = bytesOf()
  interlaced[28] = 1
  // the checksum of the header
  interlaced.writeUInt32BE(crc32(interlaced.subarray(12, 29)), 29)
  for (const bytes of [huge, interlaced, Buffer.from('PNG'), Buffer.alloc(100), bytesOf().subarray(0, 60)]) {
    t.throws(() => decodePage(bytes), { message: /not a (valid )?PNG/ })
  }
})
