// Loaded into a program before it starts. Its connections to this machine come from an address that contains its process id,
// so that a server can distinguish programs (client-process.ts): 127.1.2.3 is process 2 * 256 + 3.
import { Socket } from 'node:net'

const { pid } = process
const localAddress = [127, 1 + (pid >> 16), (pid >> 8) & 255, pid & 255].join('.')
const connect = Socket.prototype.connect

Socket.prototype.connect = function (...given) {
  // net.connect has already put its arguments into a list
  const options = Array.isArray(given[0]) ? given[0][0] : given[0]
  if (String(options?.host).startsWith('127.')) options.localAddress ??= localAddress
  return connect.apply(this, given)
}
