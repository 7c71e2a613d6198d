import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The kernel's table is no snapshot: a row may be missing while others come and go. */
const READ_AT_MOST = 20

const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0')

/** An end of a connection as the kernel writes it. */
function endOf(address: string, port: number): string {
  const bytes = address.replace('::ffff:', '').split('.').reverse()
  return `${bytes.map(byte => hex(Number(byte), 2)).join('')}:${hex(port, 4)}`
}

/**
 * Which of some processes of this machine holds the client's end of a connection from 127.0.0.1 to an address of this machine
 * (Linux). Both ends name it: a port is soon used again for a connection to another server, and the old one lingers.
 */
export function clientProcess(
  {
    remotePort = 0,
    localPort = 0,
    localAddress = '127.0.0.1',
  }: { remotePort?: number; localPort?: number; localAddress?: string },
  pids: readonly number[],
): number | null {
  const ends = ` ${endOf('127.0.0.1', remotePort)} ${endOf(localAddress, localPort)} `
  for (let reads = 0; reads < READ_AT_MOST; reads++) {
    const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n')
    const inode = rows
      .find(row => row.includes(ends))
      ?.trim()
      .split(/\s+/)[9]
    if (inode !== undefined && inode !== '0') return pids.find(pid => holdsSocket(pid, inode)) ?? null
  }
  return null
}

/** One that has ended holds nothing. */
function holdsSocket(pid: number, inode: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some(fd => linkOf(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`)
  } catch {
    return false
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
