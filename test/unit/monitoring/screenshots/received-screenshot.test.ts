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

t.test('A screenshot is accepted only when it is a valid image of a check', async t => {
  const rows: [string, Partial<Screenshot>, string | null][] = [
    ['a screenshot', {}, null],
    ['no check', { order: undefined }, 'the check is missing'],
    ['an id that is a path', { id: '../../x' }, 'an id is not a UUID'],
    ['a monitor id that is empty', { order: { ...order, monitorId: '' } }, 'an id is not a UUID'],
    ['an unknown region', { order: { ...order, region: 'mars' } }, 'the region does not exist'],
    ['no slot', { order: { ...order, scheduledAtMs: 0 } }, 'the time or the attempt of the check is invalid'],
    [
      'a slot that is not a time',
      { order: { ...order, scheduledAtMs: 1e17 } },
      'the time or the attempt of the check is invalid',
    ],
    ['a page sent as an image', { image: Buffer.from('<script>') }, 'the image is not a JPEG or PNG'],
    ['an unknown type', { contentType: 'text/html' }, 'the image is not a JPEG or PNG'],
    ['a JPEG sent as a PNG', { contentType: 'image/png' }, 'the image is not a JPEG or PNG'],
    [
      'a comparison with lossy compression',
      { order: { ...order, kind: ScreenshotKind.COMPARISON } },
      'a comparison must be a PNG',
    ],
    ['more than 1 MiB', { image: Buffer.concat([JPEG, Buffer.alloc(1024 * 1024)]) }, 'the image is larger than 1 MiB'],
  ]
  for (const [name, change, fault] of rows) t.equal(findScreenshotProblem({ ...good, ...change }), fault, name)
})
