import { readdirSync, readFileSync } from 'node:fs'

/** The descendants of a process, at any depth. */
export function listDescendants(rootPid: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    // fields after the name in parentheses, which may contain anything: state, parent
    const parent = Number(read(`/proc/${name}/stat`).split(') ').at(-1)?.split(' ')[1] ?? 0)
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const below = [...(children.get(rootPid) ?? [])]
  for (const pid of below) below.push(...(children.get(pid) ?? []))
  return below
}

/** The memory of processes that is not backed by files, in MiB. Shared memory counts for each process. */
export function sumMemoryMb(pids: number[]): number {
  let kilobytes = 0
  for (const pid of pids) {
    for (const [, size] of read(`/proc/${pid}/status`).matchAll(/^Rss(?:Anon|Shmem):\s+(\d+)/gm))
      kilobytes += Number(size)
  }
  return kilobytes / 1024
}

/** Empty when the process has exited. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
