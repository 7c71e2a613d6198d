import t from 'tap'
import { crc32, decodeFrames, decodeRecord, encodeFrame, encodeRecord } from '../../../probe-agent/results/frames.ts'

const payloads = ['one', 'two, a longer one', ''].map(text => Buffer.from(text))
const whole = Buffer.concat(payloads.map(encodeFrame))
const lengths = [11, 36, 44]

t.test('what was framed is read back', async t => {
  t.same(decodeFrames(whole), { payloads, tornBytes: 0 })
  t.same(decodeFrames(Buffer.alloc(0)), { payloads: [], tornBytes: 0 })
})

t.test('a file cut off anywhere, as by kill -9, gives every result written before the cut', async t => {
  for (let bytes = 0; bytes <= whole.length; bytes++) {
    const complete = lengths.filter(length => length <= bytes).length
    const found = decodeFrames(whole.subarray(0, bytes))
    t.same(found.payloads, payloads.slice(0, complete), `${bytes} bytes`)
    t.equal(found.tornBytes, bytes - (lengths[complete - 1] ?? 0))
  }
})

t.test('a damaged byte, or a length that cannot be, ends the reading there', async t => {
  const damaged = Buffer.from(whole)
  damaged[22]! ^= 1
  t.same(decodeFrames(damaged).payloads, payloads.slice(0, 1))
  const endless = Buffer.concat([encodeFrame(payloads[0]!), Buffer.alloc(16, 0xff)])
  t.same(decodeFrames(endless), { payloads: payloads.slice(0, 1), tornBytes: 16 })
})

t.test('a record keeps its partition, its probe and its bytes', async t => {
  const record = { partition: 15, probeId: '01890a5d-ac96-774b-bcce-b302099a8057', piece: Buffer.from([0, 1, 255]) }
  t.same(decodeRecord(encodeRecord(record)), record)
})

t.test('the checksum is the CRC-32 that everybody else computes', async t => {
  t.equal(crc32(Buffer.from('123456789')), 0xcbf43926)
})
