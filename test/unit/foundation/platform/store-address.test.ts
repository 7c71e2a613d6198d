import t from 'tap'
import { parseObjectStoreAddress } from '../../../../control-plane/foundation/platform/object-storage/store-address.ts'

t.test('SCREENSHOT_STORE is NATS or an S3-compatible store', async t => {
  t.same(parseObjectStoreAddress('nats'), { kind: 'nats' })
  t.same(parseObjectStoreAddress('s3://shots?endpoint=http://10.0.0.5:9000&region=eu-1'), {
    kind: 's3',
    bucket: 'shots',
    endpoint: 'http://10.0.0.5:9000',
    region: 'eu-1',
  })
  t.equal(
    (parseObjectStoreAddress('s3://shots?region=eu-west-1') as { endpoint: string }).endpoint,
    'https://s3.eu-west-1.amazonaws.com',
  )
  for (const bad of [
    '',
    'disk',
    'http://shots',
    's3://',
    's3://shots/folder',
    's3://shots?endpoint=ftp://a',
    's3://A_B',
  ]) {
    t.equal(parseObjectStoreAddress(bad), null, bad)
  }
})
