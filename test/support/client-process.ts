import { readdir, readFile, readlink } from 'node:fs/promises'

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
 * The table has a row for each connection of the machine, so it is read next to other work.
 */
export async function clientProcess(
  {
    remotePort = 0,
    localPort = 0,
    localAddress = '127.0.0.1',
  }: { remotePort?: number; localPort?: number; localAddress?: string },
  pids: readonly number[],
): Promise<number | null> {
  const ends = ` ${endOf('127.0.0.1', remotePort)} ${endOf(localAddress, localPort)} `
  for (let reads = 0; reads < READ_AT_MOST; reads++) {
    const table = await readFile('/proc/net/tcp')
    const at = table.indexOf(ends)
    // the fields after both ends: state, queues, timer, retransmits, user, timeout, inode
    const inode = at < 0 ? undefined : table.toString('latin1', at, table.indexOf('\n', at)).trim().split(/\s+/)[8]
    if (inode === undefined || inode === '0') continue
    for (const pid of pids) if (await holdsSocket(pid, inode)) return pid
    return null
  }
  return null
}

/** Empty for a process that has exited. */
async function holdsSocket(pid: number, inode: string): Promise<boolean> {
  const fds = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const links = await Promise.all(fds.map(fd => readlink(`/proc/${pid}/fd/${fd}`).catch(() => null)))
  return links.includes(`socket:[${inode}]`)
}
