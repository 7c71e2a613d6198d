import t from 'tap'
import { ownPlaces } from '../../../deploy/local/own-places.ts'

t.test('hosts that are given by a name are listed by their addresses', async t => {
  const settings = { host: 'localhost', port: 8080, operatorHost: 'localhost' }
  const stores = {
    databaseUrl: 'postgres://u:p@localhost/picket',
    natsUrl: 'nats://127.0.0.1:4222,[::1]:4223',
    clickhouseUrl: 'http://127.0.0.1:8123/picket',
  }
  const places = await ownPlaces(settings as never, stores as never, null, { grpc: 50_051, operator: 8_081 })
  const listed = places.split(',')
  for (const place of ['127.0.0.1:5432', '127.0.0.1:4222', '[::1]:4223', '127.0.0.1:8123'])
    t.ok(listed.includes(place), place)
  for (const place of ['127.0.0.1:50051', '127.0.0.1:8081', 'api=127.0.0.1:8080']) t.ok(listed.includes(place), place)
  t.notMatch(places, 'localhost')
})
