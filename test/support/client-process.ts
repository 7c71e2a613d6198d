import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The kernel's table is not a snapshot: a row may be missing while others change. */
const READ_AT_MOST = 20

const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0')

/** One end of a connection in the kernel's notation. */
function endOf(address: string, port: number): string {
  const bytes = address.replace('::ffff:', '').split('.').reverse()
  return `${bytes.map(byte => hex(Number(byte), 2)).join('')}:${hex(port, 4)}`
}

/**
 * Finds the process that holds the client's end of a connection from 127.0.0.1 to an address of this machine
 * (Linux). Both ends are compared, because a port is soon reused for another server while the old connection lingers.
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

/** Empty for a process that has exited. */
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
