/** The shortest of five runs in ms, to compare two pieces of work in one process under the same load. */
export function shortestMs(work: () => unknown, runs = 5): number {
  const times = Array.from({ length: runs }, () => {
    const startMs = performance.now()
    work()
    return performance.now() - startMs
  })
  return Math.min(...times)
}
