import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Which of some processes of this machine holds the client's end of a connection from 127.0.0.1:`port` (Linux). */
export function clientProcess(port: number, pids: readonly number[]): number | null {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const line = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .find(row => row.trim().split(/\s+/)[1] === local)
  const inode = line?.trim().split(/\s+/)[9]
  return pids.find(pid => inode !== undefined && holdsSocket(pid, inode)) ?? null
}

function holdsSocket(pid: number, inode: string): boolean {
  return readdirSync(`/proc/${pid}/fd`).some(fd => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`
    } catch {
      return false
    }
  })
}
