import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from './teardown.ts'

/** Makes a server listen on a free port until the test ends. Returns the port. */
export async function listenUntilEnd(t: Teardown, server: Server, host: string): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  t.teardown(
    () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return (server.address() as AddressInfo).port
}
