import t from 'tap'
import { listOwnAddresses } from '../../../tools/start/own-addresses.ts'

t.test('Hosts given by name are listed by their addresses', async t => {
  const settings = { host: 'localhost', port: 8080, operatorHost: 'localhost' }
  const stores = {
    databaseUrl: 'postgres://u:p@localhost/picket',
    natsUrl: 'nats://127.0.0.1:4222,[::1]:4223',
    clickhouseUrl: 'http://127.0.0.1:8123/picket',
  }
  const places = await listOwnAddresses(settings as never, stores as never, null, { grpc: 50_051, operator: 8_081 })
  const listed = places.split(',')
  for (const place of ['127.0.0.1:5432', '127.0.0.1:4222', '[::1]:4223', '127.0.0.1:8123'])
    t.ok(listed.includes(place), place)
  for (const place of ['127.0.0.1:50051', '127.0.0.1:8081', 'api=127.0.0.1:8080']) t.ok(listed.includes(place), place)
  t.notMatch(places, 'localhost')
})

t.test('A PostgreSQL with its address in URL parameters is listed, one behind a Unix socket is not', async t => {
  const settings = { host: '127.0.0.1', port: 8080, operatorHost: '127.0.0.1' }
  const others = { natsUrl: 'nats://127.0.0.1:4222', clickhouseUrl: 'http://127.0.0.1:8123/picket' }
  const listed = async (databaseUrl: string) => {
    const stores = { ...others, databaseUrl }
    return await listOwnAddresses(settings as never, stores as never, null, { grpc: 50_051, operator: 8_081 })
  }
  t.match(await listed('postgres:///picket?host=192.0.2.7&port=5433'), /^192\.0\.2\.7:5433,/)
  t.match(await listed('postgres://u:p@192.0.2.8/picket?host=192.0.2.7'), /^192\.0\.2\.7:5432,/)
  t.match(await listed('postgres:///picket?host=/var/run/postgresql'), /^127\.0\.0\.1:4222,/)
})
