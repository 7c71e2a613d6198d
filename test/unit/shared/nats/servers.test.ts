import t from 'tap'
import { createReconnectPace } from '../../../../shared/nats/reconnect-pace.ts'
import { parseNatsServers } from '../../../../shared/nats/servers.ts'

t.test('A list of servers is split, and tls:// is an option of the whole list', async t => {
  t.same(parseNatsServers('nats://a:4222'), { servers: ['nats://a:4222'] })
  t.same(parseNatsServers('nats://a:4222, b:4223,[::1]'), { servers: ['nats://a:4222', 'b:4223', '[::1]'] })
  t.same(parseNatsServers('tls://a:4222,TLS://b'), { servers: ['tls://a:4222', 'TLS://b'], tls: {} })
})

t.test('A list that is not accepted is an error with the position of the server, and without its text', async t => {
  const rows: [string, RegExp][] = [
    ['', /^server 1 of 1 is empty; accepted are nats:\/\/host:4222, or tls:\/\//],
    ['nats://hunter2@a,', /^server 2 of 2 is empty/],
    ['nats://a,https://hunter2@b', /^server 2 of 2 does not begin with nats:\/\/ or tls:\/\//],
    ['nats://a nats://hunter2@b', /^server 1 of 1 does not begin with/],
    ['nats://hunter2@:4222,nats://b', /^server 1 of 2 is not host:port/],
    ['nats://hunter2@a:99999', /^server 1 of 1 is not host:port/],
    ['nats://hunter2@a:4222/path', /^server 1 of 1 contains more than host:port/],
    ['nats://a:4222;nats://hunter2@b:4222', /^server 1 of 1 does not begin with/],
    ['tls://hunter2@a,nats://b', /^some servers have tls:\/\/ and others have not; accepted are/],
    ['tls://hunter2@a,b', /^some servers have tls:\/\//],
  ]
  for (const [list, reason] of rows) {
    t.throws(() => parseNatsServers(list), { message: reason }, list)
    t.throws(() => parseNatsServers(list), { message: /^(?!.*hunter2)/ }, list)
  }
})

t.test(
  'A client that reconnects tries the server that the client puts first, and pauses before each further try',
  async t => {
    const { reconnectToServer, reconnectDelayHandler } = createReconnectPace(() => 7)
    t.equal(reconnectDelayHandler(), Number.NEGATIVE_INFINITY)
    const pools = [
      ['a', 'b'],
      ['a', 'b'],
      ['b', 'a'],
      ['a', 'b'],
    ]
    t.same(
      pools.map(pool => reconnectToServer(pool)),
      [
        { server: 'a', delay: 0 },
        { server: 'a', delay: 7 },
        { server: 'b', delay: 7 },
        { server: 'a', delay: 7 },
      ],
    )
  },
)
