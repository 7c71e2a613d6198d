/** The shortest of five runs in ms, for comparing two pieces of work in one process: what else the machine does is in no ratio. */
export function shortestMs(work: () => unknown, runs = 5): number {
  const times = Array.from({ length: runs }, () => {
    const startMs = performance.now()
    work()
    return performance.now() - startMs
  })
  return Math.min(...times)
}
