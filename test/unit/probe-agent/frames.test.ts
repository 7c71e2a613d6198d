import t from 'tap'
import { decodeFrames, decodeRecord, encodeFrame, encodeRecord } from '../../../probe-agent/results/frames.ts'

const payloads = ['one', 'two, a longer one', ''].map(text => Buffer.from(text))
const whole = Buffer.concat(payloads.map(encodeFrame))
const lengths = [11, 36, 44]

t.test('Encoded frames are decoded unchanged', async t => {
  t.same(decodeFrames(whole), { payloads, tornBytes: 0 })
  t.same(decodeFrames(Buffer.alloc(0)), { payloads: [], tornBytes: 0 })
})

t.test('A file truncated at any byte returns every complete result', async t => {
  for (let bytes = 0; bytes <= whole.length; bytes++) {
    const complete = lengths.filter(length => length <= bytes).length
    const found = decodeFrames(whole.subarray(0, bytes))
    t.same(found.payloads, payloads.slice(0, complete), `${bytes} bytes`)
    t.equal(found.tornBytes, bytes - (lengths[complete - 1] ?? 0))
  }
})

t.test('A damaged byte or an invalid length ends the decoding', async t => {
  const damaged = Buffer.from(whole)
  damaged[22]! ^= 1
  t.same(decodeFrames(damaged).payloads, payloads.slice(0, 1))
  const endless = Buffer.concat([encodeFrame(payloads[0]!), Buffer.alloc(16, 0xff)])
  t.same(decodeFrames(endless), { payloads: payloads.slice(0, 1), tornBytes: 16 })
})

t.test('A record keeps its partition, its probe and its bytes', async t => {
  const record = { partition: 15, probeId: '01890a5d-ac96-774b-bcce-b302099a8057', piece: Buffer.from([0, 1, 255]) }
  t.same(decodeRecord(encodeRecord(record)), record)
})

t.test('A frame is the length, the standard CRC-32 and the payload', async t => {
  const payload = Buffer.from('123456789')
  t.same(encodeFrame(payload), Buffer.concat([Buffer.from('00000009cbf43926', 'hex'), payload]))
})
