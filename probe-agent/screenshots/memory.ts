import { readdirSync, readFileSync } from 'node:fs'

/** The private memory of all processes below one, in MiB, as the kernel counts it now. */
export function memoryBelowMb(rootPid: number): number {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    // what follows the name, which may hold anything, in brackets: state, parent
    const parent = Number(read(`/proc/${name}/stat`).split(') ').at(-1)?.split(' ')[1] ?? 0)
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  let kilobytes = 0
  const waiting = [...(children.get(rootPid) ?? [])]
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const [, anonymous = '0'] = /^RssAnon:\s+(\d+)/m.exec(read(`/proc/${pid}/status`)) ?? []
    kilobytes += Number(anonymous)
    waiting.push(...(children.get(pid) ?? []))
  }
  return kilobytes / 1024
}

/** A process may end while we look. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
