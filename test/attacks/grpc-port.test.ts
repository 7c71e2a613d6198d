import { connect, type Socket } from 'node:net'
import { credentials, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import t from 'tap'
import { all, connectProbe, createTestFleet, FAST, PATIENT } from '../support/fleet.ts'
import { waitFor } from '../support/wait.ts'

/** What an HTTP/2 client sends first. */
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'

const fleet = await createTestFleet(t)

function openSockets(count: number, port: number): Socket[] {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  return sockets
}
const listOpen = (sockets: Socket[]) =>
  sockets.filter(({ destroyed, readyState }) => !destroyed && readyState === 'open')

t.test('Silent and non-gRPC connections are closed, and a working probe stays connected', async t => {
  const { port, metrics } = await fleet.start({ ...PATIENT, firstCallTimeoutMs: 3_000 })
  const probe = connectProbe(t, port, await fleet.token(), { name: 'one' })
  await probe.probeId()
  const silent = openSockets(300, port)
  const preface = openSockets(20, port)
  const sockets = [...silent, ...preface]
  const isDone = (socket: Socket) => socket.readyState !== 'opening'
  await waitFor(() => sockets.every(isDone), { label: 'all of them connected' })
  for (const socket of preface) socket.write(PREFACE)
  for (const socket of sockets) socket.resume()
  await waitFor(() => listOpen(sockets).length === 0, { label: 'all of them closed' })
  t.match((await metrics.render()).text, /picket_fleet_connections_refused_total\{why="silent"\} 3\d\d/)
  t.ok(
    silent.every(({ bytesRead }) => bytesRead === 0),
    'a connection that sends nothing is not answered, and costs no HTTP/2 session',
  )
  const acks = () => all(probe, 'heartbeatAck').length
  const before = acks()
  await waitFor(() => acks() > before + 3, { label: 'the probe is answered as before' })
})

t.test('One address cannot use all connections', async t => {
  const { port, metrics } = await fleet.start({ ...FAST, firstCallTimeoutMs: 60_000 }, undefined, {
    connectionsPerAddress: 50,
  })
  const sockets = openSockets(200, port)
  for (const socket of sockets) socket.resume()
  await waitFor(() => listOpen(sockets).length === 50 && sockets.filter(one => one.destroyed).length === 150, {
    label: 'all but fifty closed',
  })
  t.match((await metrics.render()).text, /picket_fleet_connections_refused_total\{why="full"\} 150/)
  for (const socket of listOpen(sockets)) socket.destroy()
  // the server may not have noticed the close yet
  const isLetIn = async () => {
    const [tried] = openSockets(1, port)
    tried!.write(PREFACE)
    let isGreeted = false
    tried!.once('data', () => {
      isGreeted = true
    })
    await waitFor(() => isGreeted || tried!.destroyed, { label: 'the first bytes of the server, or the end' })
    return isGreeted
  }
  await waitFor(isLetIn, { label: 'room again' })
})

t.test('Reflection is off unless the operator enables it', async t => {
  const proto = 'node_modules/@grpc/reflection/build/proto/grpc/reflection/v1/reflection.proto'
  // biome-ignore lint/suspicious/noExplicitAny: made at run time
  const { grpc } = loadPackageDefinition(loadSync(proto, { longs: String })) as any
  const Reflection: ServiceClientConstructor = grpc.reflection.v1.ServerReflection
  const services = async (port: number) => {
    const client = new Reflection(`127.0.0.1:${port}`, credentials.createInsecure())
    const call = client.ServerReflectionInfo?.()
    return new Promise<string>(resolve => {
      // biome-ignore lint/suspicious/noExplicitAny: made at run time
      call.on('data', (value: any) => resolve(JSON.stringify(value.listServicesResponse.service)))
      call.on('error', (error: Error) => resolve(error.message))
      call.write({ listServices: '' })
    }).finally(() => client.close())
  }
  const [closed, open] = await Promise.all([fleet.start(FAST), fleet.start(FAST, undefined, { reflection: true })])
  t.match(await services(closed.port), /UNIMPLEMENTED/)
  t.match(await services(open.port), /picket\.probe\.v1\.Fleet/)
})
