import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The kernel's table is no snapshot: a row may be missing while others come and go. */
const READ_AT_MOST = 20

const addressOf = (port: number) => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`

/**
 * Which of some processes of this machine holds the client's end of a connection between two ports of 127.0.0.1
 * (Linux). Both ends name it: a port is soon used again for a connection to another server, and the old one lingers.
 */
export function clientProcess(
  { remotePort = 0, localPort = 0 }: { remotePort?: number; localPort?: number },
  pids: readonly number[],
): number | null {
  const ends = ` ${addressOf(remotePort)} ${addressOf(localPort)} `
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
