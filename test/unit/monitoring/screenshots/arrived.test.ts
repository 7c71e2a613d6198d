import t from 'tap'
import { findScreenshotProblem } from '../../../../control-plane/monitoring/screenshots/intake/received-screenshot.ts'
import { type Screenshot, ScreenshotKind } from '../../../../proto/gen/probe/v1/screenshot.ts'

const ID = '0190a0a0-0000-7000-8000-000000000001'
const JPEG = Buffer.from('ffd8ffe0', 'hex')
const order = {
  monitorId: ID,
  region: 'us-east',
  scheduledAtMs: 1,
  attempt: 1,
  kind: ScreenshotKind.FAILURE,
  statusCode: 503,
  permit: new Uint8Array(),
}
const good: Screenshot = { id: ID, probeId: ID, order, contentType: 'image/jpeg', image: JPEG, takenAtMs: 2 }

t.test('what a probe sends is kept only when it is a picture of a check', async t => {
  const rows: [string, Partial<Screenshot>, string | null][] = [
    ['a screenshot', {}, null],
    ['no check', { order: undefined }, 'it belongs to no check'],
    ['an id that is a path', { id: '../../x' }, 'an id is not a UUID'],
    ['a monitor that is none', { order: { ...order, monitorId: '' } }, 'an id is not a UUID'],
    ['a region that is none', { order: { ...order, region: 'mars' } }, 'there is no such region'],
    ['no slot', { order: { ...order, scheduledAtMs: 0 } }, 'there is no such check'],
    ['a page called a picture', { image: Buffer.from('<script>') }, 'it is no picture'],
    ['a type that is none of ours', { contentType: 'text/html' }, 'it is no picture'],
    ['a JPEG called a PNG', { contentType: 'image/png' }, 'it is no picture'],
    [
      'a comparison that loses detail',
      { order: { ...order, kind: ScreenshotKind.COMPARISON } },
      'a comparison is a PNG',
    ],
    ['more than 1 MiB', { image: Buffer.concat([JPEG, Buffer.alloc(1024 * 1024)]) }, 'it is larger than 1 MiB'],
  ]
  for (const [name, change, fault] of rows) t.equal(findScreenshotProblem({ ...good, ...change }), fault, name)
})
